use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;

use parking_lot::Mutex;
use tokio::time::{sleep, timeout};

use super::*;

/// A text is good if it is a number, which becomes its generation.
fn judge(texts: &[Vec<u8>]) -> Result<u64, String> {
    let text = String::from_utf8_lossy(&texts[0]);
    text.parse().map_err(|_| format!("not a number: {text:?}"))
}

mod scripted {
    //! The task under a paused clock, with a file that is a script.
    use super::*;

    /// What the file holds, and from which millisecond on; `None` is a missing file.
    struct Script {
        start: Instant,
        steps: Vec<(u64, Option<&'static str>)>,
    }

    impl Source for Script {
        async fn read(&mut self) -> io::Result<Vec<Vec<u8>>> {
            let now = u64::try_from(self.start.elapsed().as_millis()).unwrap();
            let (_, text) = self.steps.iter().rfind(|(at, _)| *at <= now).unwrap();
            text.map(|text| vec![text.as_bytes().to_vec()])
                .ok_or(io::ErrorKind::NotFound.into())
        }

        fn what(&self) -> &'static str {
            "script"
        }

        fn name(&self) -> impl Display {
            "script"
        }
    }

    /// Runs for ten seconds with file events and SIGHUPs at these milliseconds; gives the texts tried, and when.
    async fn tried(
        steps: &[(u64, Option<&'static str>)],
        stirs: &[u64],
        hangups: &[u64],
        look: bool,
    ) -> Vec<(u64, String)> {
        let start = Instant::now();
        let (stir, stirred) = mpsc::channel(1);
        let (hang, hangup) = mpsc::channel(1);
        let feed = |at: Vec<u64>, sender: mpsc::Sender<()>| async move {
            for at in at {
                sleep_until(start + Duration::from_millis(at)).await;
                sender.send(()).await.unwrap();
            }
            std::future::pending::<()>().await;
        };
        let tried = Rc::new(RefCell::new(Vec::new()));
        let noted = Rc::clone(&tried);
        let apply = move |texts: &[Vec<u8>]| {
            noted.borrow_mut().push((
                u64::try_from(start.elapsed().as_millis()).unwrap(),
                String::from_utf8(texts[0].clone()).unwrap(),
            ));
            judge(texts).map(drop)
        };
        let source = Script {
            start,
            steps: steps.to_vec(),
        };
        let triggers = Triggers {
            stirred,
            hangup: Hangup::Fed(hangup),
            look_every: look.then_some(LOOK_EVERY),
        };
        tokio::select! {
            () = run(source, triggers, Judge::new(&[b"1".to_vec()]), apply) => {}
            () = feed(stirs.to_vec(), stir) => {}
            () = feed(hangups.to_vec(), hang) => {}
            () = sleep(Duration::from_secs(10)) => {}
        }
        tried.take()
    }

    fn texts(expect: &[(u64, &str)]) -> Vec<(u64, String)> {
        expect
            .iter()
            .map(|(at, text)| (*at, (*text).to_owned()))
            .collect()
    }

    #[tokio::test(start_paused = true)]
    async fn a_change_is_taken_up_when_the_file_is_quiet() {
        let steps = [(0, Some("1")), (1000, Some("2"))];
        assert_eq!(
            tried(&steps, &[1000], &[], false).await,
            texts(&[(1100, "2")])
        );
        assert_eq!(
            tried(&steps, &[1000, 1050, 1120], &[], false).await,
            texts(&[(1220, "2")])
        );
    }

    #[tokio::test(start_paused = true)]
    async fn a_file_that_is_never_quiet_is_read_after_a_second() {
        let stirs: Vec<u64> = (0..40).map(|at| 1000 + at * 50).collect();
        let tried = tried(&[(0, Some("1")), (1000, Some("2"))], &stirs, &[], false).await;
        assert_eq!(tried, texts(&[(2000, "2")]));
    }

    #[tokio::test(start_paused = true)]
    async fn the_same_text_is_not_taken_up_again() {
        assert_eq!(tried(&[(0, Some("1"))], &[1000, 2000], &[], true).await, []);
        assert_eq!(
            tried(
                &[(0, Some("1")), (1000, Some("2"))],
                &[1000, 3000],
                &[],
                true
            )
            .await,
            texts(&[(1100, "2")])
        );
    }

    #[tokio::test(start_paused = true)]
    async fn a_half_written_file_is_looked_at_again() {
        let steps = [(0, Some("1")), (1000, Some("")), (1150, Some("2"))];
        assert_eq!(
            tried(&steps, &[1000], &[], false).await,
            texts(&[(1100, ""), (1200, "2")])
        );
    }

    #[tokio::test(start_paused = true)]
    async fn a_refused_text_is_tried_twice_and_then_left_until_it_changes() {
        let steps = [(0, Some("1")), (1000, Some("x")), (5000, Some("3"))];
        assert_eq!(
            tried(&steps, &[1000], &[], true).await,
            texts(&[(1100, "x"), (1200, "x"), (6100, "3")])
        );
    }

    #[tokio::test(start_paused = true)]
    async fn the_old_text_after_a_refused_one_is_taken_up_again() {
        let steps = [(0, Some("1")), (1000, Some("x")), (2000, Some("1"))];
        assert_eq!(
            tried(&steps, &[1000, 2000], &[], false).await,
            texts(&[(1100, "x"), (1200, "x"), (2100, "1")])
        );
    }

    #[tokio::test(start_paused = true)]
    async fn a_missing_file_changes_nothing_and_may_come_back() {
        let steps = [(0, Some("1")), (1000, None), (4000, Some("2"))];
        assert_eq!(
            tried(&steps, &[1000, 4000], &[], false).await,
            texts(&[(4100, "2")])
        );
    }

    #[tokio::test(start_paused = true)]
    async fn without_events_the_regular_look_finds_the_change() {
        assert_eq!(
            tried(
                &[(0, Some("1")), (100, Some("2")), (3000, Some("3"))],
                &[],
                &[],
                true
            )
            .await,
            texts(&[(100, "2"), (4100, "3")])
        );
        assert_eq!(
            tried(&[(0, Some("1")), (100, Some("2"))], &[], &[], false).await,
            []
        );
    }

    #[tokio::test(start_paused = true)]
    async fn a_hangup_takes_the_same_text_up_again() {
        assert_eq!(
            tried(&[(0, Some("1"))], &[], &[1000, 3000], false).await,
            texts(&[(1100, "1"), (3100, "1")])
        );
    }
}

mod files {
    //! The task with real files and events, and without the regular look, which would find a change anyway.
    use std::fs;
    use std::os::unix::fs::symlink;
    use std::path::Path;

    use tempfile::TempDir;

    use super::*;

    struct Setting {
        dir: TempDir,
        applied: mpsc::UnboundedReceiver<u64>,
        refused: Arc<Mutex<usize>>,
        _reloader: Reloader,
    }

    /// Watches `path` in a directory prepared by `prepare`; the current text is `1`.
    fn watching(path: &str, prepare: impl FnOnce(&Path)) -> Setting {
        let dir = TempDir::new().unwrap();
        prepare(dir.path());
        let (send, applied) = mpsc::unbounded_channel();
        let refused = Arc::new(Mutex::new(0));
        let counted = Arc::clone(&refused);
        let apply = move |texts: &[Vec<u8>]| {
            let judged = judge(texts);
            match &judged {
                Ok(generation) => send.send(*generation).unwrap(),
                Err(_) => *counted.lock() += 1,
            }
            judged.map(drop)
        };
        let settings = Settings {
            what: "number",
            paths: vec![dir.path().join(path)],
            current: vec![b"1".to_vec()],
            watch: true,
        };
        Setting {
            dir,
            applied,
            refused,
            _reloader: Reloader::begin(settings, hangup().unwrap(), None, apply),
        }
    }

    impl Setting {
        /// The next generation applied.
        async fn next(&mut self) -> u64 {
            timeout(Duration::from_secs(5), self.applied.recv())
                .await
                .expect("no reload in time")
                .unwrap()
        }

        fn at(&self, path: &str) -> PathBuf {
            self.dir.path().join(path)
        }
    }

    fn plain(dir: &Path) {
        fs::write(dir.join("c.json"), "1").unwrap();
    }

    #[tokio::test]
    async fn written_in_place() {
        let mut setting = watching("c.json", plain);
        for generation in 2..5 {
            fs::write(setting.at("c.json"), generation.to_string()).unwrap();
            assert_eq!(setting.next().await, generation);
        }
        assert_eq!(*setting.refused.lock(), 0);
    }

    #[tokio::test]
    async fn replaced_by_a_rename_again_and_again() {
        let mut setting = watching("c.json", plain);
        for generation in 2..6 {
            fs::write(setting.at("new"), generation.to_string()).unwrap();
            fs::rename(setting.at("new"), setting.at("c.json")).unwrap();
            assert_eq!(setting.next().await, generation);
        }
    }

    #[tokio::test]
    async fn removed_and_written_anew() {
        let mut setting = watching("c.json", plain);
        fs::remove_file(setting.at("c.json")).unwrap();
        fs::write(setting.at("c.json"), "2").unwrap();
        assert_eq!(setting.next().await, 2);
    }

    #[tokio::test]
    async fn a_config_map_is_swapped() {
        let version = |dir: &Path, generation: u64| {
            let name = format!("..{generation}");
            fs::create_dir(dir.join(&name)).unwrap();
            fs::write(dir.join(&name).join("c.json"), generation.to_string()).unwrap();
            symlink(&name, dir.join("..data_tmp")).unwrap();
            fs::rename(dir.join("..data_tmp"), dir.join("..data")).unwrap();
        };
        let mut setting = watching("c.json", |dir| {
            version(dir, 1);
            symlink("..data/c.json", dir.join("c.json")).unwrap();
        });
        for generation in 2..5 {
            version(setting.dir.path(), generation);
            assert_eq!(setting.next().await, generation);
            fs::remove_dir_all(setting.at(&format!("..{}", generation - 1))).unwrap();
        }
    }

    #[tokio::test]
    async fn the_file_behind_a_symlink_is_written_in_place() {
        let mut setting = watching("link.json", |dir| {
            fs::create_dir(dir.join("elsewhere")).unwrap();
            fs::write(dir.join("elsewhere/c.json"), "1").unwrap();
            symlink("elsewhere/c.json", dir.join("link.json")).unwrap();
        });
        fs::write(setting.at("elsewhere/c.json"), "2").unwrap();
        assert_eq!(setting.next().await, 2);
    }

    #[tokio::test]
    async fn a_bad_text_is_passed_over() {
        let mut setting = watching("c.json", plain);
        fs::write(setting.at("c.json"), "{").unwrap();
        while *setting.refused.lock() < 2 {
            tokio::task::yield_now().await;
        }
        fs::write(setting.at("c.json"), "2").unwrap();
        assert_eq!(setting.next().await, 2);
    }

    #[tokio::test]
    async fn a_pipe_in_the_place_of_the_file_is_passed_over() {
        let mut setting = watching("c.json", plain);
        fs::remove_file(setting.at("c.json")).unwrap();
        let made = std::process::Command::new("mkfifo")
            .arg(setting.at("c.json"))
            .status();
        assert!(made.unwrap().success());
        // Without a writer, a reader would wait beyond the end of the test.
        let _writer = fs::OpenOptions::new()
            .read(true)
            .write(true)
            .open(setting.at("c.json"))
            .unwrap();
        // Long enough for the event and two reads of the pipe, were it read.
        sleep(Duration::from_millis(500)).await;
        fs::write(setting.at("new"), "2").unwrap();
        fs::rename(setting.at("new"), setting.at("c.json")).unwrap();
        assert_eq!(setting.next().await, 2);
        assert_eq!(*setting.refused.lock(), 0);
    }

    #[tokio::test]
    async fn two_files_are_judged_together() {
        let dir = TempDir::new().unwrap();
        let paths: Vec<PathBuf> = ["a", "b"].map(|name| dir.path().join(name)).into();
        for path in &paths {
            fs::write(path, "1").unwrap();
        }
        let (send, mut applied) = mpsc::unbounded_channel();
        let settings = Settings {
            what: "pair",
            paths: paths.clone(),
            current: vec![b"1".to_vec(), b"1".to_vec()],
            watch: true,
        };
        let equal = move |texts: &[Vec<u8>]| match texts {
            [one, other] if one == other => {
                send.send(String::from_utf8(one.clone()).unwrap()).unwrap();
                Ok(())
            }
            _ => Err("different"),
        };
        let _reloader = Reloader::begin(settings, hangup().unwrap(), None, equal);
        for text in ["2", "3"] {
            fs::write(&paths[0], text).unwrap();
            // Past the quiet period: the half of the pair is read, and is no error yet.
            sleep(Duration::from_millis(150)).await;
            fs::write(&paths[1], text).unwrap();
            let next = timeout(Duration::from_secs(5), applied.recv()).await;
            assert_eq!(next.unwrap().as_deref(), Some(text));
        }
    }

    #[tokio::test]
    async fn unwatched_files_are_left_alone() {
        let dir = TempDir::new().unwrap();
        plain(dir.path());
        let settings = Settings {
            what: "number",
            paths: vec![dir.path().join("c.json")],
            current: vec![b"1".to_vec()],
            watch: false,
        };
        let reloader = Reloader::start(
            settings,
            hangup().unwrap(),
            |_: &[Vec<u8>]| -> Result<(), String> { unreachable!() },
        );
        fs::write(dir.path().join("c.json"), "2").unwrap();
        // Long enough for an event and its quiet period, were there any.
        assert!(
            timeout(Duration::from_millis(300), std::future::pending::<()>())
                .await
                .is_err()
        );
        drop(reloader);
    }
}
