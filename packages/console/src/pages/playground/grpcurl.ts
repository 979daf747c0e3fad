/** The grpcurl command for a message, because a browser cannot speak gRPC. */
import { fillMessageId, messageIdPlaceholder, shellQuote } from '../../components/shell/curl.ts'
import { isLegacyVersion } from '@parley/a2a/internal'

export interface GrpcCall {
  readonly agent: string
  /** Whether the agent may be called without credentials. */
  readonly isOpen: boolean
  /** `host:port`, from the card. */
  readonly address: string
  readonly version: string
  readonly text: string
  readonly isStreamed: boolean
  readonly hasTls: boolean
}

export function grpcurlCommand({ agent, isOpen, address, version, text, isStreamed, hasTls }: GrpcCall): string {
  const parts = [{ text: text === '' ? 'Hello' : text }]
  const words = isLegacyVersion(version) ? { content: parts } : { parts }
  const request = { message: { messageId: messageIdPlaceholder, role: 'ROLE_USER', ...words } }
  const service = isLegacyVersion(version) ? 'a2a.v1.A2AService' : 'lf.a2a.v1.A2AService'
  return [
    `grpcurl${hasTls ? '' : ' -plaintext'}`,
    `-H 'x-parley-agent: ${agent}'`,
    ...(isOpen ? [] : ['-H "authorization: Bearer $PARLEY_KEY"']),
    `-d ${fillMessageId(shellQuote(JSON.stringify(request)))}`,
    `${address.replace(/^\w+:\/\//, '')} ${service}/${isStreamed ? 'SendStreamingMessage' : 'SendMessage'}`,
  ].join(' \\\n  ')
}
