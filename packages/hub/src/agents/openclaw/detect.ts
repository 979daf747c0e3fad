/** Whether an address is that of an OpenClaw gateway: it speaks first, and says something that nobody else says. */
import { addressIn } from '../detect/address.ts'
import type { Detected, Detector, DetectParts, Target } from '../detect/detect.ts'
import { unlessAborted } from '../unless-aborted.ts'
import { connectParams, refusedBy } from './connect.ts'
import { openLine } from './line.ts'

export const openclawDetector: Detector = {
  kind: 'openclaw',
  applies: (target) => addressIn(target) !== undefined,
  detect,
}

/** It has not to start anything for that. */
const openTimeoutMs = 5_000
const usualToken = '${env:OPENCLAW_TOKEN}'

async function detect([address, ...more]: Target, { token, signal }: DetectParts): Promise<Detected> {
  if (more.length > 0 || !/^(wss?|https?):\/\//i.test(address)) return { reasons: ['it is no address'] }
  const url = address.replace(/^http/i, 'ws').replace(/\/+$/, '')
  let isGateway = false
  const opened = openLine({
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
  const opening = await unlessAborted(opened, signal)
  await closed
  if (!isGateway)
    return { reasons: [`no gateway answers there (${'failed' in opening ? opening.failed : 'no challenge'})`] }
  const notes = [
    ...(token === undefined ? ['Set OPENCLAW_TOKEN to the token of the gateway (gateway.auth.token).'] : []),
    ...('refused' in opening && token !== undefined ? [`${refusedBy(opening.refused).message}.`] : []),
  ]
  return {
    kind: 'openclaw',
    name: 'openclaw',
    entry: { url, token: token?.reference ?? usualToken },
    ...(notes.length > 0 ? { notes } : {}),
  }
}
