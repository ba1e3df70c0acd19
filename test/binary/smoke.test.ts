import { precompiledExecutable, SHORT_RUN } from '../support/binary.ts'
import { testExecutable } from '../support/executable-smoke.ts'

testExecutable(async () => ({ executable: await precompiledExecutable(), variables: SHORT_RUN }))
