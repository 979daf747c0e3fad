/** A map of names to values, a row for each. A row is added by name, so that the file has no empty name. */
import { useSignal } from '@preact/signals'
import { Icon } from '../../../components/icon.tsx'
import type { SettingControlProps } from './setting-control-props.ts'
import { SecretControl } from './secret-control.tsx'
import { isRecord } from './setting-fields.ts'
import { parseScalar } from './setting-values.ts'

interface MapControlProps extends SettingControlProps {
  readonly isSecret: boolean
  readonly hasOnlyText: boolean
}

export function MapControl({ id, value, isWrong, onValue, isSecret, hasOnlyText }: MapControlProps) {
  const pairs = isRecord(value) ? Object.entries(value) : []
  const added = useSignal('')
  const change = (next: readonly (readonly [string, unknown])[]): void =>
    onValue(next.length === 0 ? undefined : Object.fromEntries(next))
  const setValue = (name: string, next: unknown): void =>
    change(pairs.map(([one, before]) => [one, one === name ? next : before]))

  function add(): void {
    const name = added.value.trim()
    if (name === '' || pairs.some(([one]) => one === name)) return
    added.value = ''
    change([...pairs, [name, '']])
  }

  return (
    <div class="stack-small settings-map">
      {pairs.map(([name, one], index) => (
        <div key={name} class="row">
          <code class="settings-map-name cut" title={name}>
            {name}
          </code>
          {isSecret ? (
            <SecretControl
              id={`${id}-${index}`}
              name={name}
              value={one}
              isWrong={isWrong}
              onValue={(next) => setValue(name, next ?? '')}
            />
          ) : (
            <input
              type="text"
              aria-label={`Value of ${name}`}
              aria-invalid={isWrong}
              spellcheck={false}
              value={String(one)}
              onInput={({ currentTarget: { value: text } }) => setValue(name, hasOnlyText ? text : parseScalar(text))}
            />
          )}
          <button
            type="button"
            class="icon small plain"
            aria-label={`Remove ${name}`}
            onClick={() => change(pairs.filter(([other]) => other !== name))}
          >
            <Icon name="close" size={14} />
          </button>
        </div>
      ))}
      <div class="row">
        <input
          id={id}
          type="text"
          aria-label="Name"
          placeholder="Name"
          autocomplete="off"
          spellcheck={false}
          value={added.value}
          onInput={({ currentTarget }) => (added.value = currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key !== 'Enter') return
            event.preventDefault()
            add()
          }}
        />
        <button type="button" onClick={add} disabled={added.value.trim() === ''}>
          <Icon name="plus" size={14} /> Add
        </button>
      </div>
    </div>
  )
}
