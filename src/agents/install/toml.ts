import { parse, TomlError } from 'smol-toml'
import { SettingsError } from './installer.ts'

/** Throws {@link SettingsError}. */
export function readToml(settings: string): Record<string, unknown> {
  try {
    return parse(settings, { integersAsBigInt: true })
  } catch (error) {
    if (!(error instanceof TomlError)) throw error
    const what = error.message.split('\n')[0]!.replace(/^Invalid TOML document: /, '')
    throw new SettingsError(`is not valid TOML (line ${error.line}, column ${error.column}: ${what}). Fix it first`)
  }
}
