/** A browser cannot speak gRPC; shows the grpcurl command instead. */
import { callAdmin } from '../../api/admin-client.ts'
import { useResource } from '../../api/resource.ts'
import { CodeBlock } from '../../components/content/code-block.tsx'
import { grpcurlCommand } from './grpcurl.ts'
import type { PlaygroundParams } from './playground-params.ts'

export function GrpcNote({ agent, where }: { readonly agent: string; readonly where: PlaygroundParams }) {
  const detail = useResource(agent, (signal) => callAdmin('getAgent', { params: { agent }, signal }))
  const known = detail.value.value
  if (known === undefined) return null
  const { isOpen, endpoints } = known
  const address = endpoints.find(({ protocolBinding }) => protocolBinding === 'GRPC')?.url
  return (
    <div class="stack-small reply-note">
      {address !== undefined && <p>Browsers cannot use gRPC. Run this command in a terminal:</p>}
      {address === undefined ? (
        <p>
          The card of this agent does not list gRPC. To list it, set <code>listen.grpcPort</code>.
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
