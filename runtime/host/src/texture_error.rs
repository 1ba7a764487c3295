//! Why an array, a texture or a surface cannot be made.

/// Why an array, a texture or a surface cannot be made.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TextureError {
    /// An extent is zero, or larger than the device allows.
    #[error("{what} of {extents} has {axis} {extent}, and this device takes from 1 to {limit}")]
    Extent {
        /// What was to be made.
        what: &'static str,
        /// Its extents, as in `64 × 32`.
        extents: String,
        /// Which extent is wrong.
        axis: &'static str,
        /// How large it is.
        extent: usize,
        /// How large it may be.
        limit: usize,
    },
    /// Data has another number of elements than the image.
    #[error("{what} of {extents} has {needed} elements, and the data has {found}")]
    Len {
        /// What is copied.
        what: &'static str,
        /// Its extents, as in `64 × 32`.
        extents: String,
        /// How many elements it has.
        needed: usize,
        /// How many the data has.
        found: usize,
    },
    /// There are more mipmap levels than halvings, or none, or no such level.
    #[error("{extents} can have from 1 to {limit} mipmap levels, each half as large as that before, and not {levels}")]
    Levels {
        /// The extents of level 0.
        extents: String,
        /// What was asked for.
        levels: u32,
        /// How many there can be.
        limit: u32,
    },
    /// There is no such mipmap level.
    #[error("there is no mipmap level {level}: the last is {last}")]
    Level {
        /// What was asked for.
        level: u32,
        /// The number of the last level.
        last: u32,
    },
    /// A filter of integers.
    #[error(
        "integers cannot be filtered: take `Filter::Nearest`, or, of 8 and 16 bits, `normalized_texture`, which reads them \
         as floats"
    )]
    FilterOfIntegers,
    /// Wrap and mirror are for normalised coordinates.
    #[error("`Address::{mode}` needs normalised coordinates: `.normalized()` makes them run from 0 to 1")]
    AddressUnnormalized {
        /// The address mode.
        mode: &'static str,
    },
    /// Mipmapped textures have normalised coordinates.
    #[error("a mipmapped texture needs normalised coordinates, since its levels differ in size: `.normalized()`")]
    MipmapsUnnormalized,
    /// sRGB is for bytes that are read as floats.
    #[error("sRGB is for four `u8` that are read as floats: `Array2d<[u8; 4]>` and `normalized_texture`")]
    Srgb,
    /// The device filters over at most 16 texels.
    #[error("anisotropy is from 1 to 16, and not {0}")]
    Anisotropy(u32),
    /// The array is larger than surfaces may be.
    #[error("an array of {extents} is larger than this device's surfaces may be")]
    SurfaceLimit {
        /// The array's extents.
        extents: String,
    },
    /// An address that the texture unit cannot begin at.
    #[error(
        "a texture of linear memory begins at a multiple of {alignment} bytes, and this one at {offset} behind one: bind \
         the whole `CudaSlice`, or a view that begins at such a multiple"
    )]
    Alignment {
        /// What the device asks for.
        alignment: usize,
        /// How far behind.
        offset: usize,
    },
    /// Only a GPU has textures.
    #[error("a texture cannot read memory of the CPU: `upload` it to the device")]
    CpuMemory,
    /// A pitch that the texture unit cannot use.
    #[error(
        "rows of {width} elements cannot be {pitch} elements apart: a pitch is at least the width, and a multiple of \
         {alignment} bytes; `ptx::texture::pitch` gives the least"
    )]
    Pitch {
        /// The width in elements.
        width: usize,
        /// The pitch in elements.
        pitch: usize,
        /// What the device asks for, in bytes.
        alignment: usize,
    },
}
