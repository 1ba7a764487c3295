//! How a texture is read: filter, addresses outside, coordinates.

use cudarc::driver::sys::{
    CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION, CU_TRSF_NORMALIZED_COORDINATES, CU_TRSF_READ_AS_INTEGER,
    CU_TRSF_SEAMLESS_CUBEMAP, CU_TRSF_SRGB, CUDA_TEXTURE_DESC, CUaddress_mode, CUfilter_mode,
};

use crate::texture_error::TextureError;

/// What a fetch makes of the texels around its coordinates. CUDA: `cudaTextureFilterMode`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Filter {
    /// The nearest one: `cudaFilterModePoint`.
    #[default]
    Nearest,
    /// The two, four or eight nearest, weighed by their distances, which have 8 bits of fraction:
    /// `cudaFilterModeLinear`.
    Linear,
}

/// What coordinates mean outside of the image. CUDA: `cudaTextureAddressMode`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Address {
    /// The nearest texel of the edge: `cudaAddressModeClamp`.
    #[default]
    Clamp,
    /// The border's colour, zero if none was given: `cudaAddressModeBorder`.
    Border,
    /// The image again and again: `cudaAddressModeWrap`. It needs normalised coordinates.
    Wrap,
    /// The image and its mirror image by turns: `cudaAddressModeMirror`. It needs normalised coordinates.
    Mirror,
}

/// How a texture is read. CUDA: `cudaTextureDesc`, `CUDA_TEXTURE_DESC`.
#[derive(Clone, Copy, Debug, PartialEq)]
#[must_use]
pub struct Sampling {
    filter: Filter,
    address: [Address; 3],
    normalized: bool,
    border: [f32; 4],
    srgb: bool,
    seamless: bool,
    anisotropy: u32,
    mipmaps: Filter,
    bias: f32,
    levels: Option<(f32, f32)>,
    exact_trilinear: bool,
}

impl Sampling {
    /// The nearest texel, coordinates in texels, clamped to the image.
    pub const fn nearest() -> Self {
        Self {
            filter: Filter::Nearest,
            address: [Address::Clamp; 3],
            normalized: false,
            border: [0.0; 4],
            srgb: false,
            seamless: false,
            anisotropy: 1,
            mipmaps: Filter::Nearest,
            bias: 0.0,
            levels: None,
            exact_trilinear: false,
        }
    }

    /// The same with a linear filter.
    pub const fn linear() -> Self {
        Self { filter: Filter::Linear, ..Self::nearest() }
    }

    /// What coordinates outside mean, in every dimension.
    pub const fn address(self, address: Address) -> Self {
        Self { address: [address; 3], ..self }
    }

    /// The same for each dimension, `x` first.
    pub const fn address_each(self, address: [Address; 3]) -> Self {
        Self { address, ..self }
    }

    /// Coordinates from 0 to 1 over the image: `normalizedCoords`. Those of cubes are directions, and need nothing.
    pub const fn normalized(self) -> Self {
        Self { normalized: true, ..self }
    }

    /// The colour of [`Address::Border`]: `borderColor`.
    pub const fn border(self, color: [f32; 4]) -> Self {
        Self { border: color, ..self }
    }

    /// The first three of four bytes are sRGB, and become linear before they are filtered: `sRGB`.
    pub const fn srgb(self) -> Self {
        Self { srgb: true, ..self }
    }

    /// The linear filter goes over the edges of a cube's faces: `seamlessCubemap`.
    pub const fn seamless(self) -> Self {
        Self { seamless: true, ..self }
    }

    /// How many times longer than wide the pixel of `fetch_grad` may be, from 1 to 16: `maxAnisotropy`.
    pub const fn anisotropy(self, most: u32) -> Self {
        Self { anisotropy: most, ..self }
    }

    /// What is made of the two mipmap levels around: `mipmapFilterMode`.
    pub const fn mipmaps(self, filter: Filter) -> Self {
        Self { mipmaps: filter, ..self }
    }

    /// The mipmap levels that are used, as in `1.0, 3.5`; all of them without this: `minMipmapLevelClamp`,
    /// `maxMipmapLevelClamp`.
    pub const fn mipmap_levels(self, first: f32, last: f32) -> Self {
        Self { levels: Some((first, last)), ..self }
    }

    /// What is added to a level before it is used: `mipmapLevelBias`.
    pub const fn mipmap_bias(self, bias: f32) -> Self {
        Self { bias, ..self }
    }

    /// Forbids the GPU to take one level where it lies close to another: `disableTrilinearOptimization`.
    pub const fn exact_trilinear(self) -> Self {
        Self { exact_trilinear: true, ..self }
    }

    /// Checks it for an image that is read so, and gives the driver's form.
    pub(super) fn describe(&self, image: Reading) -> Result<CUDA_TEXTURE_DESC, TextureError> {
        let normalized = self.normalized || image.is_cube;
        if image.gives_integers && (self.filter == Filter::Linear || self.mipmaps == Filter::Linear) {
            return Err(TextureError::FilterOfIntegers);
        }
        let repeating = |address: &Address| match address {
            Address::Clamp | Address::Border => None,
            Address::Wrap => Some("Wrap"),
            Address::Mirror => Some("Mirror"),
        };
        if let Some(mode) = self.address.iter().take(image.dimensions).find_map(repeating)
            && !normalized
        {
            return Err(TextureError::AddressUnnormalized { mode });
        }
        if image.last_level.is_some() && !normalized {
            return Err(TextureError::MipmapsUnnormalized);
        }
        if self.srgb && !image.can_be_srgb {
            return Err(TextureError::Srgb);
        }
        if !(1..=16).contains(&self.anisotropy) {
            return Err(TextureError::Anisotropy(self.anisotropy));
        }
        let (first, last) = self.levels.unwrap_or((0.0, image.last_level.unwrap_or(0) as f32));
        let flags = [
            (image.gives_integers, CU_TRSF_READ_AS_INTEGER),
            (normalized, CU_TRSF_NORMALIZED_COORDINATES),
            (self.srgb, CU_TRSF_SRGB),
            (self.exact_trilinear, CU_TRSF_DISABLE_TRILINEAR_OPTIMIZATION),
            (self.seamless && image.is_cube, CU_TRSF_SEAMLESS_CUBEMAP),
        ];
        Ok(CUDA_TEXTURE_DESC {
            // A row is also filtered across, at a coordinate of 0, where the border would come in (seen on an H200).
            addressMode: std::array::from_fn(|k| if k < image.dimensions { self.address[k] } else { Address::Clamp })
                .map(address),
            filterMode: filter(self.filter),
            flags: flags.iter().filter(|(is_set, _)| *is_set).map(|(_, flag)| flag).sum(),
            maxAnisotropy: if self.anisotropy > 1 { self.anisotropy } else { 0 },
            mipmapFilterMode: filter(self.mipmaps),
            mipmapLevelBias: self.bias,
            minMipmapLevelClamp: first,
            maxMipmapLevelClamp: last,
            borderColor: self.border,
            reserved: [0; 12],
        })
    }
}

impl Default for Sampling {
    fn default() -> Self {
        Self::nearest()
    }
}

/// What is to be read, and how.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reading {
    /// A fetch gives integers.
    pub gives_integers: bool,
    /// Four bytes that are read as floats.
    pub can_be_srgb: bool,
    /// How many coordinates have an address mode.
    pub dimensions: usize,
    pub is_cube: bool,
    /// Of a mipmapped array.
    pub last_level: Option<u32>,
}

const fn filter(filter: Filter) -> CUfilter_mode {
    match filter {
        Filter::Nearest => CUfilter_mode::CU_TR_FILTER_MODE_POINT,
        Filter::Linear => CUfilter_mode::CU_TR_FILTER_MODE_LINEAR,
    }
}

const fn address(address: Address) -> CUaddress_mode {
    match address {
        Address::Clamp => CUaddress_mode::CU_TR_ADDRESS_MODE_CLAMP,
        Address::Border => CUaddress_mode::CU_TR_ADDRESS_MODE_BORDER,
        Address::Wrap => CUaddress_mode::CU_TR_ADDRESS_MODE_WRAP,
        Address::Mirror => CUaddress_mode::CU_TR_ADDRESS_MODE_MIRROR,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FLOATS: Reading =
        Reading { gives_integers: false, can_be_srgb: false, dimensions: 2, is_cube: false, last_level: None };

    #[test]
    fn what_the_driver_would_refuse_says_why() {
        let linear = Sampling::linear();
        let integers = Reading { gives_integers: true, ..FLOATS };
        assert_eq!(linear.describe(integers).unwrap_err(), TextureError::FilterOfIntegers);
        let wrap = Sampling::nearest().address_each([Address::Clamp, Address::Wrap, Address::Clamp]);
        let error = TextureError::AddressUnnormalized { mode: "Wrap" };
        assert_eq!(wrap.describe(FLOATS).unwrap_err(), error);
        assert!(wrap.describe(Reading { dimensions: 1, ..FLOATS }).is_ok());
        assert!(wrap.normalized().describe(FLOATS).is_ok());
        let mipmapped = Reading { last_level: Some(2), ..FLOATS };
        assert_eq!(linear.describe(mipmapped).unwrap_err(), TextureError::MipmapsUnnormalized);
        assert_eq!(linear.srgb().describe(FLOATS).unwrap_err(), TextureError::Srgb);
        assert_eq!(linear.anisotropy(17).describe(FLOATS).unwrap_err(), TextureError::Anisotropy(17));
        assert_eq!(linear.anisotropy(0).describe(FLOATS).unwrap_err(), TextureError::Anisotropy(0));
    }

    #[test]
    fn the_drivers_form_has_all_of_it() {
        let sampling = Sampling::linear()
            .address_each([Address::Wrap, Address::Mirror, Address::Border])
            .normalized()
            .border([1.0, 2.0, 3.0, 4.0])
            .srgb()
            .seamless()
            .anisotropy(8)
            .mipmaps(Filter::Linear)
            .mipmap_levels(1.0, 3.0)
            .mipmap_bias(0.5)
            .exact_trilinear();
        let cube = Reading { can_be_srgb: true, is_cube: true, ..FLOATS };
        let found = sampling.describe(cube).unwrap();
        assert_eq!(found.flags, 2 | 16 | 32 | 64);
        let modes = |image: Reading| sampling.describe(image).unwrap().addressMode.map(|mode| mode as u32);
        assert_eq!(modes(Reading { dimensions: 3, ..cube }), [0, 2, 3]);
        assert_eq!(modes(Reading { dimensions: 1, ..cube }), [0, 1, 1], "absent dimensions have no border");
        assert_eq!((found.filterMode as u32, found.mipmapFilterMode as u32, found.maxAnisotropy), (1, 1, 8));
        assert_eq!((found.minMipmapLevelClamp, found.maxMipmapLevelClamp, found.mipmapLevelBias), (1.0, 3.0, 0.5));
        assert_eq!(found.borderColor, [1.0, 2.0, 3.0, 4.0]);
        let plain = Sampling::default().describe(Reading { gives_integers: true, ..FLOATS }).unwrap();
        assert_eq!((plain.flags, plain.addressMode[0] as u32, plain.maxAnisotropy), (1, 1, 0));
        let levels = linear_of(5);
        assert_eq!((levels.minMipmapLevelClamp, levels.maxMipmapLevelClamp), (0.0, 5.0));
    }

    fn linear_of(last: u32) -> CUDA_TEXTURE_DESC {
        Sampling::linear().normalized().describe(Reading { last_level: Some(last), ..FLOATS }).unwrap()
    }
}
