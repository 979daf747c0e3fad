/** An agent of the OpenAI Agents SDK whose process is killed. */
import { join } from 'node:path'
import { killTests } from '../kill-tests.ts'

killTests('OpenAI Agents', join(import.meta.dirname, 'killed-program.ts'))
