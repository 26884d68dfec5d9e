//! What the gateway's process costs, as the kernel counts it: memory now and at most, and processor time.

use std::fs;
use std::time::Duration;

use crate::gateway::Gateway;

impl Gateway {
    /// How much memory it holds at this moment, in bytes.
    #[must_use]
    pub fn resident_bytes(&self) -> usize {
        self.status("VmRSS:")
    }

    /// The most memory it has held since [`Gateway::forget_peak`], in bytes.
    #[must_use]
    pub fn peak_bytes(&self) -> usize {
        self.status("VmHWM:")
    }

    /// Begins anew to look for the most memory, from what it holds at this moment.
    pub fn forget_peak(&self) {
        fs::write(format!("/proc/{}/clear_refs", self.pid()), "5").expect("a process of our own");
    }

    /// The processor time that its threads have used. Of a thread that has ended nothing is known; none does while requests
    /// are served.
    #[must_use]
    pub fn cpu_time(&self) -> Duration {
        let tasks = fs::read_dir(format!("/proc/{}/task", self.pid())).expect("a process");
        let nanoseconds = tasks.filter_map(|task| {
            let schedule = fs::read_to_string(task.ok()?.path().join("schedstat")).ok()?;
            schedule.split_whitespace().next()?.parse::<u64>().ok()
        });
        Duration::from_nanos(nanoseconds.sum())
    }

    /// A size of `/proc/PID/status`.
    fn status(&self, name: &str) -> usize {
        let status = fs::read_to_string(format!("/proc/{}/status", self.pid())).expect("a process");
        let size = status.lines().find_map(|line| line.strip_prefix(name));
        let kibibytes = size.expect(name).trim().trim_end_matches(" kB");
        kibibytes.parse::<usize>().expect("a number") * 1024
    }
}
