//! What a launch asks for beside its grid: clusters, cooperation, priority, an early begin, a window of L2. Each is an attribute of
//! `cuLaunchKernelEx`, and checked before the driver sees it.

use std::ffi::c_void;

use cudarc::driver::sys::{
    self, CUlaunchAttribute, CUlaunchAttributeID as Id, CUlaunchAttributeValue, CUlaunchConfig, CUresult,
};
use cudarc::driver::{CudaStream, DriverError};
use ptx_abi::LaunchBounds;
use ptx_device::Dim3;

use crate::device::Device;
use crate::error::Result;
use crate::grid::{Grid, GridError};
use crate::l2::L2Window;
use crate::module::Kernel;

/// Clusters of so many blocks run on every device that has clusters (CUDA C++ Programming Guide, "Thread Block Clusters").
const PORTABLE_CLUSTER: u128 = 8;

/// The capability from which on there are clusters, and launches that begin early.
const NEWER: (u32, u32) = (9, 0);

/// What was asked for.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Extras {
    pub(crate) cluster: Option<Dim3>,
    /// The kernel's code has the clusters: the driver knows them, and may refuse to be told.
    pub(crate) has_own_cluster: bool,
    pub(crate) cooperative: bool,
    pub(crate) priority: Option<i32>,
    pub(crate) early: bool,
    pub(crate) window: Option<L2Window>,
}

impl Extras {
    /// What the kernel asks for itself.
    pub(crate) fn of(bounds: &LaunchBounds) -> Self {
        let [x, y, z] = bounds.cluster;
        let cluster = (x > 0).then(|| Dim3::new(x, y, z));
        let has_own_cluster = cluster.is_some();
        Self { cluster, has_own_cluster, cooperative: bounds.is_cooperative, ..Self::default() }
    }

    /// Whether the launch asks for the clusters that the kernel is compiled for.
    pub(crate) fn agree(&self, bounds: &LaunchBounds) -> Result<(), GridError> {
        let own = Self::of(bounds).cluster;
        match (self.cluster, own) {
            (Some(cluster), Some(own)) if cluster != own => Err(GridError::OtherCluster { cluster, own }),
            (Some(cluster), _) if bounds.max_cluster > 0 && cluster.volume() > u128::from(bounds.max_cluster) => {
                Err(GridError::ClusterBound { cluster, limit: bounds.max_cluster })
            }
            _ => Ok(()),
        }
    }

    /// Whether anything was.
    #[inline]
    pub(crate) fn are_any(&self) -> bool {
        self.cluster.is_some() || self.cooperative || self.priority.is_some() || self.early || self.window.is_some()
    }

    /// Whether blocks wait for each other.
    #[cfg(feature = "cpu")]
    pub(crate) fn needs_blocks_at_once(&self) -> bool {
        self.cooperative || self.cluster.is_some()
    }

    /// Checks what can be checked without the driver, and tells the driver of what it must know beforehand. The context must
    /// be current.
    pub(crate) fn check(&self, grid: Grid, kernel: &Kernel, device: &Device) -> Result<Result<(), GridError>> {
        let priorities = if self.priority.is_some() { device.priorities()? } else { 0..=0 };
        if let Err(reason) = self.fits(grid, device.capability(), (*priorities.start(), *priorities.end())) {
            return Ok(Err(reason));
        }
        if self.cluster.is_some_and(|cluster| cluster.volume() > PORTABLE_CLUSTER) {
            kernel.allow_large_clusters()?;
        }
        Ok(Ok(()))
    }

    fn fits(&self, grid: Grid, capability: (u32, u32), (first, last): (i32, i32)) -> Result<(), GridError> {
        if capability < NEWER && (self.cluster.is_some() || self.early) {
            let what = if self.early { "a launch that begins early" } else { "a launch in clusters" };
            return Err(GridError::Newer { what, capability });
        }
        if let Some(Dim3 { x, y, z }) = self.cluster {
            let Grid { blocks, .. } = grid;
            for (axis, blocks, cluster) in [('x', blocks.x, x), ('y', blocks.y, y), ('z', blocks.z, z)] {
                if cluster == 0 {
                    return Err(GridError::Zero("cluster"));
                }
                if !blocks.is_multiple_of(cluster) {
                    return Err(GridError::ClusterParts { axis, blocks, cluster });
                }
            }
        }
        match self.priority {
            Some(priority) if priority < first || priority > last => Err(GridError::Priority { priority, first, last }),
            _ => Ok(()),
        }
    }

    /// Starts a kernel.
    ///
    /// # Safety
    /// The pointers must be to values of the parameters' sizes, and the context be current.
    #[inline]
    pub(crate) unsafe fn start(
        &self,
        kernel: &Kernel,
        grid: &Grid,
        stream: &CudaStream,
        pointers: *mut *mut c_void,
    ) -> Result<(), DriverError> {
        if self.are_any() {
            // SAFETY: the caller's promise.
            return unsafe { self.start_with(kernel, *grid, stream, pointers) };
        }
        // SAFETY: the caller's promise.
        unsafe { start_alone(kernel, grid, stream, pointers) }
    }

    /// # Safety
    /// As of [`Extras::start`].
    unsafe fn start_with(
        &self,
        kernel: &Kernel,
        grid: Grid,
        stream: &CudaStream,
        pointers: *mut *mut c_void,
    ) -> Result<(), DriverError> {
        let (mut attributes, count) = self.attributes();
        let config = config(grid, stream, &mut attributes[..count]);
        // SAFETY: the caller's promise; the attributes live until the call is over.
        unsafe { sys::cuLaunchKernelEx(&config, kernel.function(), pointers, std::ptr::null_mut()) }.result()
    }

    /// What is behind an error of a launch that asked for this; none where it is something else.
    pub(crate) fn reason(
        &self,
        error: DriverError,
        kernel: &Kernel,
        grid: Grid,
        stream: &CudaStream,
    ) -> Option<GridError> {
        match (error.0, self.cluster) {
            (CUresult::CUDA_ERROR_COOPERATIVE_LAUNCH_TOO_LARGE, _) => {
                let limit = kernel.resident_blocks(grid.threads, grid.shared_bytes, stream.context()).ok()?;
                let blocks = u64::try_from(grid.blocks.volume()).unwrap_or(u64::MAX);
                Some(GridError::Cooperative { blocks, limit })
            }
            (CUresult::CUDA_ERROR_INVALID_CLUSTER_SIZE, Some(cluster)) => {
                // Without the attribute that is too large.
                let config = config(grid, stream, &mut []);
                let mut limit = 0;
                // SAFETY: writes one number; the context is current.
                unsafe { sys::cuOccupancyMaxPotentialClusterSize(&mut limit, kernel.function(), &config) }
                    .result()
                    .ok()?;
                Some(GridError::ClusterSize { cluster, limit: u32::try_from(limit).unwrap_or(0) })
            }
            _ => None,
        }
    }

    /// As the driver takes them, and how many they are.
    pub(crate) fn attributes(&self) -> ([CUlaunchAttribute; 5], usize) {
        let attribute = |id, value: &dyn Fn(&mut CUlaunchAttributeValue)| {
            let mut attribute = CUlaunchAttribute { id, pad: [0; 4], value: CUlaunchAttributeValue { pad: [0; 64] } };
            value(&mut attribute.value);
            attribute
        };
        let mut all = [attribute(Id::CU_LAUNCH_ATTRIBUTE_IGNORE, &|_| ()); 5];
        let mut count = 0;
        let mut add = |attribute| {
            all[count] = attribute;
            count += 1;
        };
        if let Some(Dim3 { x, y, z }) = self.cluster.filter(|_| !self.has_own_cluster) {
            let dim = sys::CUlaunchAttributeValue_union__bindgen_ty_1 { x, y, z };
            add(attribute(Id::CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION, &|value| value.clusterDim = dim));
        }
        if self.cooperative {
            add(attribute(Id::CU_LAUNCH_ATTRIBUTE_COOPERATIVE, &|value| value.cooperative = 1));
        }
        if let Some(priority) = self.priority {
            add(attribute(Id::CU_LAUNCH_ATTRIBUTE_PRIORITY, &|value| value.priority = priority));
        }
        if self.early {
            let id = Id::CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION;
            add(attribute(id, &|value| value.programmaticStreamSerializationAllowed = 1));
        }
        // The driver takes no window without bytes, which is what older devices have.
        if let Some(window) = self.window.filter(|window| window.bytes() > 0) {
            let id = Id::CU_LAUNCH_ATTRIBUTE_ACCESS_POLICY_WINDOW;
            add(attribute(id, &|value| value.accessPolicyWindow = window.of_driver()));
        }
        (all, count)
    }
}

/// Calls `with` with a launch in clusters.
pub(crate) fn with_cluster<T>(
    grid: Grid,
    cluster: Dim3,
    stream: &CudaStream,
    with: impl FnOnce(&CUlaunchConfig) -> T,
) -> T {
    let (mut attributes, count) = Extras { cluster: Some(cluster), ..Extras::default() }.attributes();
    with(&config(grid, stream, &mut attributes[..count]))
}

/// Starts a kernel that asks for nothing beside its grid.
///
/// # Safety
/// The pointers must be to values of the parameters' sizes. Where another context is current, or none, the driver refuses it.
#[inline]
pub(crate) unsafe fn start_alone(
    kernel: &Kernel,
    grid: &Grid,
    stream: &CudaStream,
    pointers: *mut *mut c_void,
) -> Result<(), DriverError> {
    let Grid { blocks, threads, shared_bytes } = grid;
    // SAFETY: the caller's promise.
    let launched = unsafe {
        sys::cuLaunchKernel(
            kernel.function(),
            blocks.x,
            blocks.y,
            blocks.z,
            threads.x,
            threads.y,
            threads.z,
            *shared_bytes,
            stream.cu_stream(),
            pointers,
            std::ptr::null_mut(),
        )
    };
    launched.result()
}

fn config(grid: Grid, stream: &CudaStream, attributes: &mut [CUlaunchAttribute]) -> CUlaunchConfig {
    let Grid { blocks, threads, shared_bytes } = grid;
    CUlaunchConfig {
        gridDimX: blocks.x,
        gridDimY: blocks.y,
        gridDimZ: blocks.z,
        blockDimX: threads.x,
        blockDimY: threads.y,
        blockDimZ: threads.z,
        sharedMemBytes: shared_bytes,
        hStream: stream.cu_stream(),
        attrs: attributes.as_mut_ptr(),
        numAttrs: attributes.len() as u32,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOPPER: (u32, u32) = (9, 0);
    const RANGE: (i32, i32) = (-5, 0);

    fn fits(extras: Extras, grid: Grid, capability: (u32, u32)) -> Result<(), GridError> {
        extras.fits(grid, capability, RANGE)
    }

    #[test]
    fn clusters_divide_the_grid() {
        let of = |x, y, z| Extras { cluster: Some(Dim3::new(x, y, z)), ..Extras::default() };
        assert_eq!(fits(of(2, 1, 1), Grid::new(6, 32), HOPPER), Ok(()));
        assert_eq!(fits(of(2, 2, 2), Grid::new((2, 4, 6), 32), (12, 0)), Ok(()));
        let parts = GridError::ClusterParts { axis: 'y', blocks: 3, cluster: 2 };
        assert_eq!(fits(of(2, 2, 1), Grid::new((2, 3), 32), HOPPER), Err(parts));
        assert_eq!(fits(of(2, 0, 1), Grid::new(2, 32), HOPPER), Err(GridError::Zero("cluster")));
    }

    #[test]
    fn the_kernels_own_clusters_are_the_launches() {
        let fixed = LaunchBounds { cluster: [2, 1, 1], is_cooperative: true, ..LaunchBounds::NONE };
        let own = Extras::of(&fixed);
        assert_eq!((own.cluster, own.cooperative), (Some(Dim3::new(2, 1, 1)), true));
        assert_eq!(own.attributes().1, 1, "the cooperation alone");
        assert_eq!((own.agree(&fixed), Extras::of(&LaunchBounds::NONE)), (Ok(()), Extras::default()));
        let of = |x| Extras { cluster: Some(Dim3::new(x, 1, 1)), ..Extras::default() };
        let other = GridError::OtherCluster { cluster: Dim3::new(4, 1, 1), own: Dim3::new(2, 1, 1) };
        assert_eq!(of(4).agree(&fixed), Err(other));
        let bounded = LaunchBounds { max_cluster: 4, ..LaunchBounds::NONE };
        assert_eq!(of(4).agree(&bounded), Ok(()));
        assert_eq!(of(8).agree(&bounded), Err(GridError::ClusterBound { cluster: Dim3::new(8, 1, 1), limit: 4 }));
    }

    #[test]
    fn what_the_device_is_too_old_for_is_named() {
        let old = |what| Err(GridError::Newer { what, capability: (8, 9) });
        let cluster = Extras { cluster: Some(Dim3::new(1, 1, 1)), ..Extras::default() };
        assert_eq!(fits(cluster, Grid::new(1, 1), (8, 9)), old("a launch in clusters"));
        let early = Extras { early: true, ..Extras::default() };
        assert_eq!(fits(early, Grid::new(1, 1), (8, 9)), old("a launch that begins early"));
        let cooperative = Extras { cooperative: true, ..Extras::default() };
        assert_eq!(fits(cooperative, Grid::new(1, 1), (7, 5)), Ok(()));
    }

    #[test]
    fn priorities_are_the_devices() {
        let of = |priority| fits(Extras { priority: Some(priority), ..Extras::default() }, Grid::new(1, 1), (7, 5));
        assert_eq!((of(-5), of(0)), (Ok(()), Ok(())));
        for priority in [-6, 1] {
            assert_eq!(of(priority), Err(GridError::Priority { priority, first: -5, last: 0 }));
        }
    }

    #[test]
    fn all_that_was_asked_for_is_an_attribute() {
        assert_eq!(Extras::default().attributes().1, 0);
        let cluster = Some(Dim3::new(2, 1, 1));
        let all = Extras { cluster, cooperative: true, priority: Some(-1), early: true, ..Extras::default() };
        assert_eq!(Extras { has_own_cluster: true, ..all }.attributes().1, 3);
        let (attributes, count) = all.attributes();
        assert_eq!(count, 4);
        // SAFETY: the field that was written.
        assert_eq!(unsafe { attributes[0].value.clusterDim.x }, 2);
        // SAFETY: as above.
        assert_eq!(unsafe { attributes[2].value.priority }, -1);
        assert_eq!(attributes[3].id, Id::CU_LAUNCH_ATTRIBUTE_PROGRAMMATIC_STREAM_SERIALIZATION);
    }
}
