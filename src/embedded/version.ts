/** Which Tally this is: shown by `tally version`, in the OpenAPI document and in `/health`. */
import packageJson from '../../package.json' with { type: 'json' }

/** Put in place by scripts/build.ts; not there when Tally runs from source. */
declare const BUILD_COMMIT: string | undefined
declare const BUILD_PLATFORM: string | undefined
declare const BUILD_RELEASE_KEY: string | undefined

export const VERSION: string = packageJson.version

/** The commit that the executable was built from, `dev` from source. */
export const COMMIT: string = typeof BUILD_COMMIT === 'undefined' ? 'dev' : BUILD_COMMIT

/** What the executable was built for, as the archives of releases are named: `linux-x64-musl`. */
export const PLATFORM: string =
  typeof BUILD_PLATFORM === 'undefined' ? `${process.platform}-${process.arch}` : BUILD_PLATFORM

/** The public key that releases are signed with; undefined if the sources have none. */
export const RELEASE_KEY: string | undefined =
  (typeof BUILD_RELEASE_KEY === 'undefined' ? '' : BUILD_RELEASE_KEY) || undefined
