//! Black-box tests of the onwards-server binary over real sockets.
