use tokio::io::AsyncReadExt;
use tokio::net::TcpListener;

use super::*;

#[test]
fn what_waits_at_an_end_is_in_the_table() {
    let table = "\
  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:1F90 0100007F:C350 01 00000010:00000000 00:00000000 00000000     0        0 1 1
   1: 0100007F:C350 0100007F:1F90 01 00000000:00004000 00:00000000 00000000     0        0 2 1
";
    assert!(!unread(table, " 0100007F:1F90 0100007F:C350 "));
    assert!(unread(table, " 0100007F:C350 0100007F:1F90 "));
    assert!(!unread(table, " 0100007F:1F90 0100007F:1F90 "));
}

#[tokio::test]
async fn a_piece_waits_for_the_one_before() {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let mut one = TcpStream::connect(listener.local_addr().unwrap())
        .await
        .unwrap();
    let (mut other, _) = listener.accept().await.unwrap();
    let writing = tokio::spawn(async move {
        write(&mut one, &vec![7; 3 * PIECE + 1], true)
            .await
            .unwrap();
    });
    let mut reads = Vec::new();
    let mut buffer = vec![0; 10 * PIECE];
    loop {
        match other.read(&mut buffer).await.unwrap() {
            0 => break,
            read => reads.push(read),
        }
    }
    writing.await.unwrap();
    assert_eq!(reads, [PIECE, PIECE, PIECE, 1]);
}
