/** Detects an OpenClaw gateway: it sends the first frame, and no other server sends that one. */
import { abortable } from '@parley/a2a/internal'
import { targetUrl, type DetectorResult, type Detector, type DetectDeps, type DetectTarget } from './detect.ts'
import { connectParams, refusalError } from '../openclaw/gateway/handshake.ts'
import { openOpenClawConnection } from '../openclaw/gateway/connection.ts'

export const openClawDetector: Detector = {
  kind: 'openclaw',
  applies: (target) => targetUrl(target) !== undefined,
  detect,
}

/** Short, because the gateway need not start anything. */
const openTimeoutMs = 5_000
const usualToken = '${env:OPENCLAW_TOKEN}'

async function detect([address, ...more]: DetectTarget, { token, signal }: DetectDeps): Promise<DetectorResult> {
  if (more.length > 0 || !/^(wss?|https?):\/\//i.test(address)) return { reasons: ['it is not a URL'] }
  const url = address.replace(/^http/i, 'ws').replace(/\/+$/, '')
  let isGateway = false
  const opened = openOpenClawConnection({
    url,
    openTimeoutMs,
    onEvent: () => {},
    connect(challenge) {
      isGateway = challenge.nonce !== ''
      return connectParams(challenge, {
        credentials: { token: token?.value ?? '' },
        device: undefined,
        approvals: false,
      })
    },
  })
  const closed = opened.then((opening) => void ('line' in opening && opening.line.close()))
  const opening = await abortable(signal, opened)
  await closed
  if (!isGateway)
    return { reasons: [`no gateway responds there (${'failed' in opening ? opening.failed : 'no challenge'})`] }
  const notes = [
    ...(token === undefined ? ['Set OPENCLAW_TOKEN to the token of the gateway (gateway.auth.token).'] : []),
    ...('refused' in opening && token !== undefined ? [`${refusalError(opening.refused).message}.`] : []),
  ]
  return {
    kind: 'openclaw',
    name: 'openclaw',
    entry: { url, token: token?.reference ?? usualToken },
    ...(notes.length > 0 ? { notes } : {}),
  }
}
