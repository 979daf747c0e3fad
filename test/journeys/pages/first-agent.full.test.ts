/** docs/tutorials/first-agent.md works as printed. */
import { describePage } from './describe-page.ts'

describePage('docs/tutorials/first-agent.md')
