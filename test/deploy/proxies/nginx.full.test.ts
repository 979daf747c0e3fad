/** nginx of Debian in front of real hubs, with deploy/nginx as it stands. The hub has no WebSocket, so none is tested. */
import { describeProxy } from './describe-proxy.ts'
import { nginx } from './running-proxy.ts'

describeProxy(nginx)
