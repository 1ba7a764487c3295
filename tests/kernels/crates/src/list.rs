//! The crates, in groups, for the kernels, the device tests, and the book's page, which `cargo xtask tidy` compares with
//! it.
//!
//! A group is a module, a cargo feature, an image and a kernel. A row is: function, crate, what runs, and what is to be said.
//! `other results` begins what is said of a crate whose results the CPU does not have.

/// Calls the macro `$callback` with every group.
#[macro_export]
macro_rules! for_each_crate {
    ($callback:ident) => {
        $callback! {
            ciphers "ciphers" {
                aes "aes" "AES-128 and AES-256, blocks both ways" "software; the CPU uses its AES instructions";
                chacha20 "chacha20" "ChaCha20, XChaCha8, seeking" "software; the CPU uses SSE2 or AVX2";
                crypto_bigint "crypto-bigint" "256-bit products, division, powers modulo" "";
                ctr "ctr" "counter mode of AES-192" "";
                generic_array "generic-array" "map, zip, split, fold; with typenum" "";
                hkdf "hkdf" "extract and expand with SHA-256" "";
                hmac "hmac" "HMAC-SHA-256, made and verified" "";
                poly1305 "poly1305" "tags of padded and unpadded texts" "software; the CPU may use AVX2";
                subtle "subtle" "comparisons and selections in constant time" "";
                zeroize "zeroize" "arrays cleared, by hand and on drop" "";
            }
            collections "collections" {
                arrayvec "arrayvec" "`ArrayVec`, `ArrayString`" "";
                bitvec "bitvec" "`BitVec`, `BitArray`, fields in both orders" "";
                fixedbitset "fixedbitset" "set operations, counts" "SSE2 on the CPU";
                hashbrown "hashbrown" "`HashMap`, `HashSet`: entries, removal, `retain`"
                    "the order of iteration differs by design: the CPU compares 16 slots at once by SSE2, the GPU 8; the results are sorted";
                heapless "heapless" "`BinaryHeap`, `Deque`, `Vec`, `String`" "";
                indexmap "indexmap" "entries, both ways of removal, sorting" "";
                slab "slab" "insertion, removal, `retain`" "";
                slotmap "slotmap" "`SlotMap`, `SecondaryMap`" "";
                smallvec "smallvec" "on the stack and spilled to the heap" "";
                tinyvec "tinyvec" "`TinyVec`, `ArrayVec`" "";
            }
            compression "compression" {
                lz4_flex "lz4_flex" "blocks, both ways" "";
                miniz_oxide "miniz_oxide" "deflate and zlib, both ways, and a damaged input" "";
            }
            curves "curves" {
                curve25519_dalek "curve25519-dalek" "scalars, points, compression" "its serial backend; the CPU may use AVX2";
                k256 "k256" "ECDSA: keys, signatures, verification" "";
                x25519_dalek "x25519-dalek" "a key exchange" "";
            }
            encodings "encodings" {
                base64 "base64" "standard and URL-safe, both ways" "";
                bytemuck "bytemuck" "casts of slices and values" "";
                byteorder "byteorder" "integers and floats of both orders" "";
                bytes "bytes" "`BytesMut`, `Bytes`, shared slices" "";
                hex "hex" "both ways" "";
                itoa "itoa" "integers of 8 to 128 bits" "";
                percent_encoding "percent-encoding" "both ways" "";
                ryu "ryu" "`f32`, `f64`" "";
                semver "semver" "versions, order, requirements" "";
                uuid "uuid" "versions 4 and 5, text both ways" "";
                zerocopy "zerocopy" "references and reads of bytes" "";
            }
            exact "exact" {
                num_bigint "num-bigint" "sums, products, shifts, bytes" "";
                num_integer "num-integer" "divisors, roots, binomials" "";
                num_rational "num-rational" "arithmetic, rounding, text" "";
                primitive_types "primitive-types" "`U256`, `U512`: products, division, powers, text" "";
                rust_decimal "rust_decimal" "arithmetic, rounding, text" "";
            }
            formats "formats" {
                chrono "chrono" "dates, zones, `strftime`, RFC 3339 both ways" "";
                httparse "httparse" "requests whole and in parts, responses" "SSE4.2 on the CPU";
                postcard "postcard" "a struct with enums, both ways" "";
                serde "serde" "deserialisers of values" "";
                serde_json "serde_json" "a struct written, `Value` both ways, messages of errors" "";
                time "time" "dates, durations, offsets" "";
            }
            hashes "hashes" {
                adler2 "adler2" "at once and in parts" "";
                ahash "ahash" "`RandomState` with seeds"
                    "other results: its build script gives x86-64 and five others a 128-bit product, and all others another algorithm";
                blake2 "blake2" "BLAKE2b-512, BLAKE2s-256" "";
                blake3 "blake3" "hashes, keyed hashes, long outputs" "feature `pure`; the CPU uses SSE or AVX";
                crc "crc" "16, 32 and 64 bits; with and without tables" "";
                crc32fast "crc32fast" "at once and combined" "tables; the CPU may use PCLMULQDQ";
                fnv "fnv" "values of several types" "";
                foldhash "foldhash" "`fast` and `quality`" "";
                md5 "md-5" "parts of random lengths" "";
                rustc_hash "rustc-hash" "values of several types" "";
                sha1 "sha1" "parts of random lengths" "software; the CPU uses its SHA instructions";
                sha2 "sha2" "SHA-224, SHA-256, SHA-512" "software; the CPU uses its SHA instructions";
                sha3 "sha3" "SHA3-256" "";
                siphasher "siphasher" "SipHash 1-3, 2-4 and of 128 bits" "";
                twox_hash "twox-hash" "XXH32, XXH64, XXH3" "";
                xxhash_rust "xxhash-rust" "XXH32, XXH64, XXH3 of 64 and 128 bits" "scalar; the CPU uses SSE2";
            }
            numbers "numbers" {
                approx "approx" "absolute, relative and ULP comparisons" "";
                fixed "fixed" "arithmetic, rounding, roots, text" "";
                glam "glam" "vectors, inverses of matrices, quaternions of `f64`"
                    "scalar on both sides; `Vec4`, `Mat4` and `Quat`, which add in another order on the CPU by SSE2, are left out";
                half "half" "conversions and arithmetic of `f16`, `bf16`" "";
                libm "libm" "28 functions"
                    "differs by design: sines, powers and the like are libdevice's, equal to 30 bits; roots, `fma` and rounding are equal";
                micromath "micromath" "approximations of sines, logarithms and powers" "";
                nalgebra "nalgebra" "LU, QR, Cholesky, eigenvalues" "";
                num_complex "num-complex" "arithmetic, powers, text" "";
                num_traits "num-traits" "generic arithmetic, conversions, text" "";
                ordered_float "ordered-float" "sorting, sums, NaN" "";
            }
            random "random" {
                fastrand "fastrand" "ranges, shuffles, choices" "";
                oorandom "oorandom" "ranges and floats" "";
                rand "rand" "`SmallRng`: distributions, ranges, shuffles"
                    "uniform floats are `a * b + c`: with the default `fmad = true` their last bits differ by design";
                rand_chacha "rand_chacha" "ChaCha8, ChaCha20 with streams" "scalar; the CPU uses SSE2 or AVX2";
                rand_core "rand_core" "a block generator of its own" "";
                rand_pcg "rand_pcg" "PCG of 32, 64 and 128 bits" "";
                rand_xoshiro "rand_xoshiro" "three generators, jumps" "";
            }
            structures "structures" {
                bitflags "bitflags" "operators, names" "";
                either "either" "iterators of two kinds" "";
                itertools "itertools" "combinations, permutations, groups, merges" "";
                once_cell "once_cell" "`OnceCell`, `Lazy`, `race`" "";
                petgraph "petgraph" "searches, shortest paths, components" "";
                spin "spin" "`Mutex`, `RwLock`, `Once`" "";
                typed_arena "typed-arena" "values that refer to each other" "";
            }
            text "text" {
                aho_corasick "aho-corasick" "the contiguous automaton: search, letters of either case" "";
                bstr "bstr" "search, replacement, words, graphemes" "";
                heck "heck" "three cases" "";
                memchr "memchr" "bytes and substrings, from both ends" "scalar; the CPU uses SSE2 or AVX2";
                nom "nom" "expressions and lists" "";
                unicode_normalization "unicode-normalization" "NFC, NFD, NFKD" "";
                unicode_segmentation "unicode-segmentation" "graphemes, words, sentences" "";
                unicode_width "unicode-width" "widths of characters and texts" "";
                winnow "winnow" "lists, numbers, words" "";
            }
        }
    };
}
