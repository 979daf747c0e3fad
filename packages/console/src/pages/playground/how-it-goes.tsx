/** In which version and binding messages go, whether the answer is streamed, and what can be done with the last one. */
import { setQuery } from '../../app/router.ts'
import { Copy } from '../../parts/copy.tsx'
import { Icon } from '../../parts/icon.tsx'
import { versions } from './reach.ts'
import type { Where } from './where.ts'

export interface HowProps {
  readonly where: Where
  readonly retry: (() => void) | undefined
  /** The last request as a command. */
  readonly asCurl: (() => string) | undefined
  readonly cancel: (() => void) | undefined
}

export function HowItGoes({ where, retry, asCurl, cancel }: HowProps) {
  const { version, binding, isStreamed } = where
  return (
    <div class="how">
      <label>
        <span class="how-name">A2A</span>
        <select
          aria-label="Version"
          value={version}
          onChange={({ currentTarget: { value } }) => setQuery({ version: value === '1.0' ? undefined : value })}
        >
          {versions.map((one) => (
            <option key={one} value={one}>
              {one}
            </option>
          ))}
        </select>
      </label>
      <select
        aria-label="Binding"
        value={binding}
        onChange={({ currentTarget: { value } }) => setQuery({ binding: value === 'JSONRPC' ? undefined : value })}
      >
        <option value="JSONRPC">JSON-RPC</option>
        <option value="HTTP+JSON">REST</option>
        <option value="GRPC">gRPC</option>
      </select>
      <label class="how-stream">
        <input
          type="checkbox"
          checked={isStreamed}
          onChange={({ currentTarget: { checked } }) => setQuery({ stream: checked ? undefined : '0' })}
        />
        Stream
      </label>
      <span class="grow" />
      {cancel !== undefined && (
        <button type="button" class="small plain danger" onClick={cancel}>
          <Icon name="stop" size={14} /> Cancel task
        </button>
      )}
      {retry !== undefined && (
        <button type="button" class="small plain" title="The last message once more, as a new one" onClick={retry}>
          <Icon name="retry" size={14} /> Retry
        </button>
      )}
      {asCurl !== undefined && (
        <Copy text={asCurl} label="Copy the last request as curl">
          Copy curl
        </Copy>
      )}
    </div>
  )
}
