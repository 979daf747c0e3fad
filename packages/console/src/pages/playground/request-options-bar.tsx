/** Version and binding of the requests, whether to stream, and actions on the last request. */
import { newestVersion, versionIds } from '@parley/a2a/internal'
import { setQuery } from '../../app/router.ts'
import { bindingNames, bindingTitles } from '../../components/binding-titles.ts'
import { CopyButton } from '../../components/content/copy-button.tsx'
import { CheckField, SelectField } from '../../components/form/form-fields.tsx'
import { Icon } from '../../components/icon.tsx'
import type { PlaygroundParams } from './playground-params.ts'

interface RequestOptionsBarProps {
  readonly where: PlaygroundParams
  readonly retry: (() => void) | undefined
  /** The last request as a curl command. */
  readonly asCurl: (() => string) | undefined
  readonly cancel: (() => void) | undefined
}

export function RequestOptionsBar({ where, retry, asCurl, cancel }: RequestOptionsBarProps) {
  const { version, binding, isStreamed } = where
  return (
    <div class="bar how">
      <label>
        <span class="how-name">A2A</span>
        <SelectField
          label="Version"
          value={version}
          options={versionIds.map((one) => [one, one])}
          onChange={(value) => setQuery({ version: value === newestVersion ? undefined : value })}
        />
      </label>
      <SelectField
        label="Binding"
        value={binding}
        options={bindingNames.map((name) => [name, bindingTitles[name]])}
        onChange={(value) => setQuery({ binding: value === 'JSONRPC' ? undefined : value })}
      />
      <CheckField checked={isStreamed} onChange={(isOn) => setQuery({ stream: isOn ? undefined : '0' })}>
        Stream
      </CheckField>
      <span class="grow" />
      {cancel !== undefined && (
        <button type="button" class="small plain danger" onClick={cancel}>
          <Icon name="stop" size={14} /> Cancel task
        </button>
      )}
      {retry !== undefined && (
        <button type="button" class="small plain" title="Send the last message again, as a new task" onClick={retry}>
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
