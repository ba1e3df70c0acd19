/** What the files for containers say, checked by programs that know it. */
import { expect, test } from 'bun:test'
import { join } from 'node:path'
import { findPythonWith } from '../support/python-packages.ts'

const MANIFEST = join(import.meta.dir, '../../packaging/kubernetes/tally.yaml')

const python = findPythonWith('kubernetes-validate==1.37.0', 'kubernetes_validate')

test.skipIf(!python)('the manifest has what Kubernetes knows, in old versions and new ones', () => {
  for (const version of ['1.25.0', '1.37.0']) {
    const command = [python!, '-m', 'kubernetes_validate', '--strict', '-k', version, MANIFEST]
    const { exitCode, stdout } = Bun.spawnSync(command)
    expect(exitCode, stdout.toString()).toBe(0)
  }
})
