/** gRPC for who has a shell: no browser can speak it. */
import { fillFreshId, freshId } from '../../parts/fresh-id.ts'
import { quoted } from '../tasks/as-curl.ts'
import type { Version } from './reach.ts'

export interface GrpcCall {
  readonly agent: string
  /** Whether the agent may be called without credentials. */
  readonly isOpen: boolean
  /** `host:port`, as the card has it. */
  readonly address: string
  readonly version: Version
  readonly text: string
  readonly isStreamed: boolean
  readonly hasTls: boolean
}

export function grpcurlOf({ agent, isOpen, address, version, text, isStreamed, hasTls }: GrpcCall): string {
  const said = [{ text: text === '' ? 'Hello' : text }]
  const words = version === '1.0' ? { parts: said } : { content: said }
  const request = { message: { messageId: freshId, role: 'ROLE_USER', ...words } }
  const service = version === '1.0' ? 'lf.a2a.v1.A2AService' : 'a2a.v1.A2AService'
  return [
    `grpcurl${hasTls ? '' : ' -plaintext'}`,
    `-H 'x-parley-agent: ${agent}'`,
    ...(isOpen ? [] : ['-H "authorization: Bearer $PARLEY_KEY"']),
    `-d ${fillFreshId(quoted(JSON.stringify(request)))}`,
    `${address.replace(/^\w+:\/\//, '')} ${service}/${isStreamed ? 'SendStreamingMessage' : 'SendMessage'}`,
  ].join(' \\\n  ')
}
