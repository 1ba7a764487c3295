//! How large images may be on a device.

use cudarc::driver::CudaContext;
use cudarc::driver::sys::CUdevice_attribute as Attribute;

use super::extents::Extents;
use crate::driver::Doing;
use crate::error::Result;
use crate::texture_error::TextureError;

/// The device's limit of one extent.
#[derive(Clone, Copy, Debug)]
pub struct Limit {
    axis: Axis,
    attribute: Attribute,
}

/// The extent that a limit is of.
#[derive(Clone, Copy, Debug)]
enum Axis {
    Width,
    Height,
    Depth,
    Layers,
    /// Layers of six faces.
    Cubes,
}

macro_rules! limits {
    ($($name:ident = [$($axis:ident $attribute:ident),*];)*) => {$(
        pub(super) const $name: &[Limit] = &[$(Limit { axis: Axis::$axis, attribute: Attribute::$attribute }),*];
    )*};
}
limits! {
    TEXTURE_1D = [Width CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_WIDTH];
    TEXTURE_2D = [
        Width CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_WIDTH, Height CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_HEIGHT
    ];
    TEXTURE_GATHER = [
        Width CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_GATHER_WIDTH,
        Height CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_GATHER_HEIGHT
    ];
    TEXTURE_3D = [
        Width CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_WIDTH, Height CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_HEIGHT,
        Depth CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE3D_DEPTH
    ];
    TEXTURE_1D_LAYERED = [
        Width CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LAYERED_WIDTH,
        Layers CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LAYERED_LAYERS
    ];
    TEXTURE_2D_LAYERED = [
        Width CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_WIDTH,
        Height CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_HEIGHT,
        Layers CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LAYERED_LAYERS
    ];
    TEXTURE_CUBE = [Width CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURECUBEMAP_WIDTH];
    TEXTURE_CUBE_LAYERED = [
        Width CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURECUBEMAP_LAYERED_WIDTH,
        Cubes CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURECUBEMAP_LAYERED_LAYERS
    ];
    SURFACE_1D = [Width CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE1D_WIDTH];
    SURFACE_2D = [
        Width CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_WIDTH, Height CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_HEIGHT
    ];
    SURFACE_3D = [
        Width CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE3D_WIDTH, Height CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE3D_HEIGHT,
        Depth CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE3D_DEPTH
    ];
    SURFACE_1D_LAYERED = [
        Width CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE1D_LAYERED_WIDTH,
        Layers CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE1D_LAYERED_LAYERS
    ];
    SURFACE_2D_LAYERED = [
        Width CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_LAYERED_WIDTH,
        Height CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_LAYERED_HEIGHT,
        Layers CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACE2D_LAYERED_LAYERS
    ];
    SURFACE_CUBE = [Width CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACECUBEMAP_WIDTH];
    SURFACE_CUBE_LAYERED = [
        Width CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACECUBEMAP_LAYERED_WIDTH,
        Cubes CU_DEVICE_ATTRIBUTE_MAXIMUM_SURFACECUBEMAP_LAYERED_LAYERS
    ];
    // Memory of a `CudaSlice`.
    LINEAR = [Width CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE1D_LINEAR_WIDTH];
    PITCHED = [
        Width CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_WIDTH,
        Height CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_LINEAR_HEIGHT
    ];
}

/// One of the device's numbers.
pub(super) fn attribute(context: &CudaContext, attribute: Attribute) -> Result<usize> {
    let number = context.attribute(attribute).doing(|| "asking for the device's limits of textures".to_owned())?;
    Ok(usize::try_from(number).unwrap_or(0))
}

/// Checks the extents of an image; all must be there.
pub(super) fn check(context: &CudaContext, what: &'static str, extents: Extents, limits: &[Limit]) -> Result<()> {
    compare(what, extents, limits, &mut |of| attribute(context, of))
}

fn compare(
    what: &'static str,
    extents: Extents,
    limits: &[Limit],
    most: &mut dyn FnMut(Attribute) -> Result<usize>,
) -> Result<()> {
    for Limit { axis, attribute } in limits {
        let limit = most(*attribute)?;
        let (axis, extent) = match axis {
            Axis::Width => ("width", extents.width),
            Axis::Height => ("height", extents.height),
            Axis::Depth => ("depth", extents.depth),
            Axis::Layers => ("layers", extents.depth),
            Axis::Cubes => ("faces", extents.depth),
        };
        // Layers of cubes are counted as faces (driver API, `CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURECUBEMAP_LAYERED_LAYERS`).
        if extent == 0 || extent > limit {
            return Err(TextureError::Extent { what, extents: extents.text(), axis, extent, limit }.into());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;

    #[test]
    fn what_is_too_large_or_empty_is_named() {
        let check = |width, height| {
            compare("a plane", Extents { width, height, depth: 0 }, TEXTURE_2D, &mut |attribute| {
                Ok(if attribute == Attribute::CU_DEVICE_ATTRIBUTE_MAXIMUM_TEXTURE2D_WIDTH { 100 } else { 50 })
            })
        };
        assert!(check(100, 50).is_ok());
        let axis = |result| match result {
            Err(Error::Texture(TextureError::Extent { axis, limit, .. })) => (axis, limit),
            other => panic!("{other:?}"),
        };
        assert_eq!(axis(check(101, 50)), ("width", 100));
        assert_eq!(axis(check(100, 51)), ("height", 50));
        assert_eq!(axis(check(0, 50)), ("width", 100));
        assert_eq!(
            check(100, 51).unwrap_err().to_string(),
            "a plane of 100 × 51 has height 51, and this device takes from 1 to 50"
        );
    }
}
