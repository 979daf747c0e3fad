/** Version and binding of the requests, whether to stream, and actions on the last request. */
import { setQuery } from '../../app/router.ts'
import { CopyButton } from '../../components/content/copy-button.tsx'
import { bindingNames, bindingTitles } from '../../components/binding-titles.ts'
import { Icon } from '../../components/icon.tsx'
import { versions } from './agent-connections.ts'
import type { PlaygroundParams } from './playground-params.ts'

export interface RequestOptionsBarProps {
  readonly where: PlaygroundParams
  readonly retry: (() => void) | undefined
  /** The last request as a curl command. */
  readonly asCurl: (() => string) | undefined
  readonly cancel: (() => void) | undefined
}

export function RequestOptionsBar({ where, retry, asCurl, cancel }: RequestOptionsBarProps) {
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
        {bindingNames.map((name) => (
          <option key={name} value={name}>
            {bindingTitles[name]}
          </option>
        ))}
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
        <CopyButton text={asCurl} label="Copy the last request as curl">
          Copy curl
        </CopyButton>
      )}
    </div>
  )
}
