/** Which Tally this is: shown by `tally version`, in the OpenAPI document and in `/health`. */
import packageJson from '../package.json' with { type: 'json' }

/** Put in place by scripts/build.ts; not there when Tally runs from source. */
declare const BUILD_COMMIT: string | undefined

export const VERSION: string = packageJson.version

/** The commit that the executable was built from, `dev` from source. */
export const COMMIT: string = typeof BUILD_COMMIT === 'undefined' ? 'dev' : BUILD_COMMIT
