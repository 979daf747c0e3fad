/** docs/tutorials/command-line.md works as printed. */
import { describePage } from './describe-page.ts'

describePage('docs/tutorials/command-line.md', { ports: [8080] })
