/** gRPC needs what no browser gives to a page. The command that does it instead. */
import { call } from '../../api/call.ts'
import { useResource } from '../../api/resource.ts'
import { Code } from '../../parts/code.tsx'
import { grpcurlOf } from './grpcurl.ts'
import type { Where } from './where.ts'

export function GrpcNote({ agent, where }: { readonly agent: string; readonly where: Where }) {
  const detail = useResource(agent, (signal) => call('getAgent', { params: { agent }, signal }))
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
        <Code
          label="the command"
          text={grpcurlOf({ ...where, agent, isOpen, address, hasTls: location.protocol === 'https:' })}
        />
      )}
    </div>
  )
}
