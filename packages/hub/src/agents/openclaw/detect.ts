/** Whether an address is that of an OpenClaw gateway: it speaks first, and says something that nobody else says. */
import type { Detected, Detector, DetectParts, Target } from '../detect/detect.ts'
import { connectParams, refusedBy } from './connect.ts'
import { openLine } from './line.ts'

export const openclawDetector: Detector = { kind: 'openclaw', detect }

/** It has not to start anything for that. */
const openTimeoutMs = 5_000
const usualToken = '${env:OPENCLAW_TOKEN}'

async function detect([address, ...more]: Target, { token }: DetectParts): Promise<Detected> {
  if (more.length > 0 || !/^(wss?|https?):\/\//i.test(address)) return { reasons: ['it is no address'] }
  const url = address.replace(/^http/i, 'ws').replace(/\/+$/, '')
  let isGateway = false
  const opening = await openLine({
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
  if ('line' in opening) opening.line.close()
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
