/** docs/tutorials/agents-that-call-agents.md works as printed. */
import { describePage } from './describe-page.ts'

describePage('docs/tutorials/agents-that-call-agents.md')
