/** One setting of the form: its name, control, problems and description; or a folded group of settings. */
import { InlineCodeText } from '../../../agent/inline-code-text.tsx'
import { FieldErrorList } from '../../../components/form/form-fields.tsx'
import type { EntryReviewResult } from './entry-draft.ts'
import { SettingControlView } from './setting-control.tsx'
import { canEdit, type SettingField } from './setting-fields.ts'
import { countSet, settingAt, withSetting, type Entry } from './setting-values.ts'

export interface SettingFormContext {
  readonly entry: Entry
  readonly problems: EntryReviewResult['problems']
  /** The format of the file, as a word. */
  readonly format: string
  readonly onChange: (entry: Entry) => void
  readonly openText: () => void
}

export interface SettingFieldProps {
  readonly field: SettingField
  readonly context: SettingFormContext
}

export function SettingFieldView({ field, context }: SettingFieldProps) {
  const { path, name, about, isRequired, control, defaultText } = field
  const { entry, problems, onChange } = context
  const value = settingAt(entry, path)
  const key = path.join('.')
  const own = problems.filter(
    (one) => one.path === key || one.path.startsWith(`${key}.`) || one.path.startsWith(`${key}[`),
  )
  if (control.type === 'group' && canEdit(control, value)) {
    return (
      <details class="settings-group" open={own.length > 0 || countSet(value) > 0}>
        <summary>
          <code>{name}</code>
          {countSet(value) > 0 && <span class="faint"> {countSet(value)} set</span>}
          <span class="hint settings-about">
            <InlineCodeText text={about} />
          </span>
        </summary>
        <div class="entry-fields">
          {control.fields.map((one) => (
            <SettingFieldView key={one.name} field={one} context={context} />
          ))}
        </div>
      </details>
    )
  }
  const id = `setting-${path.join('-')}`
  const isWide = control.type === 'list' || control.type === 'map' || (control.type === 'text' && control.isLong)
  const hasLabel = canEdit(control, value) && control.type !== 'map' && control.type !== 'choices'
  return (
    <div
      class={isWide ? 'field settings-wide' : 'field'}
      role={hasLabel ? undefined : 'group'}
      aria-label={hasLabel ? undefined : key}
    >
      {hasLabel ? (
        <label for={id}>
          <code>{name}</code> {isRequired && <span class="entry-needed">required</span>}
        </label>
      ) : (
        <p class="label">
          <code>{name}</code> {isRequired && <span class="entry-needed">required</span>}
        </p>
      )}
      {canEdit(control, value) ? (
        <SettingControlView
          field={field}
          id={id}
          value={value}
          isWrong={own.length > 0}
          onValue={(next) => onChange(withSetting(entry, path, next))}
        />
      ) : (
        <ComplexValue value={value} context={context} />
      )}
      <FieldErrorList
        id={`${id}-mistakes`}
        mistakes={own.map(({ path: at, message }) => ({ field: at === key ? '' : at, text: message }))}
      />
      <p class="hint" id={`${id}-hint`}>
        <InlineCodeText text={about} />{' '}
        {defaultText !== undefined && !/default/i.test(about) && `Default: ${defaultText}`}
      </p>
    </div>
  )
}

const maxPreview = 400

/** A value without a control: a preview, and the way to the text. */
function ComplexValue({
  value,
  context: { format, openText },
}: {
  readonly value: unknown
  readonly context: SettingFormContext
}) {
  const text = value === undefined ? undefined : JSON.stringify(value, null, 1)
  return (
    <div class="stack-small settings-complex">
      {text !== undefined && (
        <pre class="mono">{text.length > maxPreview ? `${text.slice(0, maxPreview)}…` : text}</pre>
      )}
      <div>
        <button
          type="button"
          class="small"
          title={`This setting has no form. Edit it as ${format}.`}
          onClick={openText}
        >
          Edit as {format}
        </button>
      </div>
    </div>
  )
}
