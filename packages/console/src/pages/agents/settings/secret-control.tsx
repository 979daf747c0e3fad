/** A secret: a reference to an environment variable, or a value that the hub keeps, or one in the file. The hub shows neither. */
import { useSignal } from '@preact/signals'
import { environmentReference, environmentVariable, hiddenSecret, hubSecret } from './setting-values.ts'

export interface SecretControlProps {
  readonly id: string
  readonly name: string
  readonly value: unknown
  readonly isWrong: boolean
  readonly onValue: (value: string | undefined) => void
}

export function SecretControl({ id, name, value, isWrong, onValue }: SecretControlProps) {
  const variable = environmentVariable(value)
  const text = typeof value === 'string' ? value : ''
  const kept = hubSecret(value)
  const isInFile = text.includes(hiddenSecret)
  const placeholder = kept !== undefined ? `Kept as ${kept} (hidden)` : isInFile ? 'Unchanged (hidden)' : 'New value'
  /** Until there is a value that shows it. */
  const chosen = useSignal<'environment' | 'value'>('environment')
  const source = variable !== undefined ? 'environment' : text === '' ? chosen.value : 'value'
  const shared = { id, 'aria-invalid': isWrong, 'aria-describedby': `${id}-hint ${id}-mistakes`, autocomplete: 'off' }
  return (
    <div class="row settings-secret">
      <select
        aria-label={`Source of ${name}`}
        value={source}
        onChange={({ currentTarget }) => {
          chosen.value = currentTarget.value as 'environment' | 'value'
          onValue(undefined)
        }}
      >
        <option value="environment" selected={source === 'environment'}>
          Environment variable
        </option>
        <option value="value" selected={source === 'value'}>
          {isInFile ? 'Stored in the file' : 'Kept by the hub'}
        </option>
      </select>
      {source === 'environment' ? (
        <input
          {...shared}
          type="text"
          class="mono"
          spellcheck={false}
          placeholder="NAME"
          value={variable ?? ''}
          onInput={({ currentTarget }) =>
            onValue(currentTarget.value === '' ? undefined : environmentReference(currentTarget.value.trim()))
          }
        />
      ) : (
        <input
          {...shared}
          type="password"
          placeholder={placeholder}
          // A long name of a secret is cut off in a narrow field.
          title={placeholder}
          value={kept !== undefined || isInFile ? '' : text}
          onInput={({ currentTarget }) => onValue(currentTarget.value === '' ? undefined : currentTarget.value)}
        />
      )}
    </div>
  )
}
