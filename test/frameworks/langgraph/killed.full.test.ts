/** An agent on LangGraph whose process is killed. */
import { join } from 'node:path'
import { killStepTests } from '../kill-step-tests.ts'
import { killTests } from '../kill-tests.ts'

const program = join(import.meta.dirname, 'killed-program.ts')

killTests('LangGraph', program)
killStepTests('LangGraph', program)
