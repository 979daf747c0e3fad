/** An agent of the AI SDK whose process is killed. */
import { join } from 'node:path'
import { killStepTests } from '../kill-step-tests.ts'
import { killTests } from '../kill-tests.ts'

const program = join(import.meta.dirname, 'killed-program.ts')

killTests('AI SDK', program)
killStepTests('AI SDK', program)
