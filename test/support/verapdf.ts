/** veraPDF, which checks files against PDF/UA-1: a library in Java, installed once into `node_modules`. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'

const SOURCE = join(import.meta.dir, 'verapdf')
const LIBRARIES = join(import.meta.dir, '../../node_modules/.cache/verapdf')

/** A command that takes paths of files; undefined without Java or Maven, or if no repository can be reached. */
export function findVeraPdf(): string[] | undefined {
  const [java, maven] = [Bun.which('java'), Bun.which('mvn')]
  if (!java || !Bun.which('javac') || !maven) return undefined
  const pom = join(SOURCE, 'pom.xml')
  const copy = ['dependency:copy-dependencies', `-DoutputDirectory=${LIBRARIES}`]
  if (
    !existsSync(LIBRARIES) &&
    Bun.spawnSync([maven, '--quiet', '--batch-mode', '--file', pom, ...copy]).exitCode !== 0
  ) {
    console.log('veraPDF could not be installed: its test is skipped.')
    return undefined
  }
  return [java, '-cp', join(LIBRARIES, '*'), join(SOURCE, 'Validate.java')]
}
