/** An agent on LangGraph whose process is killed. */
import { join } from 'node:path'
import { killTests } from '../kill-tests.ts'

killTests('LangGraph', join(import.meta.dirname, 'killed-program.ts'))
