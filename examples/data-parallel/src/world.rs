//! Which of how many processes this is, and how they find each other: by what torchrun or mpirun put in the environment.

use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};

/// A process's place among all.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct World {
    /// Its number, from 0.
    pub rank: usize,
    /// How many there are.
    pub size: usize,
    /// Its number on its host, which chooses the GPU.
    pub local_rank: usize,
    /// Where the first one listens.
    pub address: String,
    /// The port of that.
    pub port: u16,
}

/// How long processes wait for each other.
const PATIENCE: Duration = Duration::from_secs(60);

impl World {
    /// What the environment says; none if it says nothing, so that this process is alone.
    pub fn from_environment(variable: impl Fn(&str) -> Option<String>) -> Result<Option<Self>> {
        let number = |name: &str| -> Result<Option<usize>> {
            let parse = |text: String| text.trim().parse().with_context(|| format!("{name}={text} is no number"));
            variable(name).map(parse).transpose()
        };
        // torchrun's names first: who starts torchrun under mpirun means torchrun's processes.
        let names = [
            ["RANK", "WORLD_SIZE", "LOCAL_RANK"],
            ["OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_LOCAL_RANK"],
        ];
        for [rank, size, local_rank] in names {
            let (Some(number_of), Some(count)) = (number(rank)?, number(size)?) else { continue };
            ensure!(number_of < count, "{rank}={number_of} is not below {size}={count}");
            let local_rank = number(local_rank)?.unwrap_or(0);
            let address = variable("MASTER_ADDR").unwrap_or_else(|| "127.0.0.1".to_owned());
            let port = number("MASTER_PORT")?.unwrap_or(29_500);
            // On the port itself torchrun's agent may have its own store.
            let is_taken = variable("TORCHELASTIC_USE_AGENT_STORE").is_some_and(|value| value == "True");
            let port = u16::try_from(port + usize::from(is_taken)).context("MASTER_PORT is no port")?;
            return Ok(Some(Self { rank: number_of, size: count, local_rank, address, port }));
        }
        Ok(None)
    }

    /// The first process's bytes, for all, once all have come.
    pub fn share<const N: usize>(&self, own: impl FnOnce() -> Result<[u8; N]>) -> Result<[u8; N]> {
        let Self { address, port, .. } = self;
        if self.rank == 0 {
            let bytes = own()?;
            if self.size > 1 {
                let listener =
                    TcpListener::bind(("0.0.0.0", *port)).with_context(|| format!("cannot listen on port {port}"))?;
                let others = (1..self.size).map(|_| Ok(listener.accept()?.0)).collect::<Result<Vec<TcpStream>>>()?;
                others.into_iter().try_for_each(|mut other| other.write_all(&bytes))?;
            }
            return Ok(bytes);
        }
        let begin = Instant::now();
        let mut bytes = [0; N];
        loop {
            match TcpStream::connect((&**address, *port)).and_then(|mut stream| stream.read_exact(&mut bytes)) {
                Ok(()) => return Ok(bytes),
                Err(error) if begin.elapsed() > PATIENCE => {
                    bail!("process 0 does not answer at {address}:{port} (MASTER_ADDR and MASTER_PORT): {error}")
                }
                Err(_) => std::thread::sleep(Duration::from_millis(50)),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn world(pairs: &[(&str, &str)]) -> Result<Option<World>> {
        let find = |name: &str| pairs.iter().find(|(known, _)| *known == name).map(|(_, value)| (*value).to_owned());
        World::from_environment(find)
    }

    #[test]
    fn torchrun_and_mpirun_say_who_this_is() {
        assert_eq!(world(&[]).unwrap(), None);
        let torch =
            [("RANK", "3"), ("WORLD_SIZE", "4"), ("LOCAL_RANK", "1"), ("MASTER_ADDR", "a"), ("MASTER_PORT", "7")];
        let expected = World { rank: 3, size: 4, local_rank: 1, address: "a".to_owned(), port: 7 };
        assert_eq!(world(&torch).unwrap(), Some(expected.clone()));
        let agent = [&torch[..], &[("TORCHELASTIC_USE_AGENT_STORE", "True")]].concat();
        assert_eq!(world(&agent).unwrap(), Some(World { port: 8, ..expected }));
        let mpi = [("OMPI_COMM_WORLD_RANK", "0"), ("OMPI_COMM_WORLD_SIZE", "2"), ("OMPI_COMM_WORLD_LOCAL_RANK", "0")];
        let alone = World { rank: 0, size: 2, local_rank: 0, address: "127.0.0.1".to_owned(), port: 29_500 };
        assert_eq!(world(&mpi).unwrap(), Some(alone));
        let error = world(&[("RANK", "2"), ("WORLD_SIZE", "2")]).unwrap_err().to_string();
        assert_eq!(error, "RANK=2 is not below WORLD_SIZE=2");
        let error = world(&[("RANK", "two"), ("WORLD_SIZE", "2")]).unwrap_err().to_string();
        assert_eq!(error, "RANK=two is no number");
    }

    #[test]
    fn all_get_what_the_first_has() {
        let free = TcpListener::bind(("127.0.0.1", 0)).and_then(|listener| listener.local_addr()).unwrap().port();
        let of = |rank| World { rank, size: 3, local_rank: 0, address: "127.0.0.1".to_owned(), port: free };
        std::thread::scope(|scope| {
            let others = [1, 2].map(|rank| scope.spawn(move || of(rank).share::<4>(|| unreachable!())));
            std::thread::sleep(Duration::from_millis(20));
            assert_eq!(of(0).share(|| Ok(*b"1234")).unwrap(), *b"1234");
            for other in others {
                assert_eq!(other.join().unwrap().unwrap(), *b"1234");
            }
        });
    }
}
