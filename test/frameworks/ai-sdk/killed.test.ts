/** An agent of the AI SDK whose process is killed. */
import { join } from 'node:path'
import { killTests } from '../kill-tests.ts'

killTests('AI SDK', join(import.meta.dirname, 'killed-program.ts'))
