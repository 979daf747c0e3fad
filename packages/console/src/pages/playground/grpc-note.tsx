/** A browser cannot speak gRPC; shows the grpcurl command instead. */
import { callAdmin } from '../../api/admin-client.ts'
import { useResource } from '../../api/resource.ts'
import { CodeBlock } from '../../components/content/code-block.tsx'
import { fillMessageId, messageIdPlaceholder, shellQuote } from '../../components/shell/curl.ts'
import type { Version } from './agent-connections.ts'
import type { PlaygroundParams } from './playground-params.ts'

export function GrpcNote({ agent, where }: { readonly agent: string; readonly where: PlaygroundParams }) {
  const detail = useResource(agent, (signal) => callAdmin('getAgent', { params: { agent }, signal }))
  const known = detail.value.value
  if (known === undefined) return null
  const { isOpen, endpoints } = known
  const address = endpoints.find(({ protocolBinding }) => protocolBinding === 'GRPC')?.url
  return (
    <div class="reply-note">
      <p>A browser cannot speak gRPC: it gives no page the frames of HTTP/2. From a shell it goes like this:</p>
      {address === undefined ? (
        <p>
          This hub speaks no gRPC. Switch it on with <code>listen.grpcPort</code> in its configuration.
        </p>
      ) : (
        <CodeBlock
          label="the command"
          text={grpcurlCommand({ ...where, agent, isOpen, address, hasTls: location.protocol === 'https:' })}
        />
      )}
    </div>
  )
}

interface GrpcCall {
  readonly agent: string
  /** Whether the agent may be called without credentials. */
  readonly isOpen: boolean
  /** `host:port`, from the card. */
  readonly address: string
  readonly version: Version
  readonly text: string
  readonly isStreamed: boolean
  readonly hasTls: boolean
}

function grpcurlCommand({ agent, isOpen, address, version, text, isStreamed, hasTls }: GrpcCall): string {
  const said = [{ text: text === '' ? 'Hello' : text }]
  const words = version === '1.0' ? { parts: said } : { content: said }
  const request = { message: { messageId: messageIdPlaceholder, role: 'ROLE_USER', ...words } }
  const service = version === '1.0' ? 'lf.a2a.v1.A2AService' : 'a2a.v1.A2AService'
  return [
    `grpcurl${hasTls ? '' : ' -plaintext'}`,
    `-H 'x-parley-agent: ${agent}'`,
    ...(isOpen ? [] : ['-H "authorization: Bearer $PARLEY_KEY"']),
    `-d ${fillMessageId(shellQuote(JSON.stringify(request)))}`,
    `${address.replace(/^\w+:\/\//, '')} ${service}/${isStreamed ? 'SendStreamingMessage' : 'SendMessage'}`,
  ].join(' \\\n  ')
}
