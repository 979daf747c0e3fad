/** docs/tutorials/from-a2a-js-sdk.md works as printed: both servers, with both clients. */
import { describePage } from './describe-page.ts'

describePage('docs/tutorials/from-a2a-js-sdk.md', { ports: [3000, 4000] })
