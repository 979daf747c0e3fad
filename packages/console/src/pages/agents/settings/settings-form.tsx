/** The form of an entry: the settings of its kind, required and set ones first; the rest and the common ones folded. */
import { useSignal } from '@preact/signals'
import { useMemo } from 'preact/hooks'
import type { ConfigSchema } from '../../../components/editor/config-schema.ts'
import { SettingFieldView, type SettingFormContext } from './setting-field-view.tsx'
import { cardSettings, settingFields, type SettingField } from './setting-fields.ts'
import { countSet, type Entry } from './setting-values.ts'

export interface SettingsFormProps extends Omit<SettingFormContext, 'root'> {
  readonly schema: ConfigSchema
  /** The applied settings: those that are set are not folded. */
  readonly saved: Entry
}

interface Section {
  readonly id: string
  readonly title: string
  readonly fields: readonly SettingField[]
  readonly isFolded: boolean
}

function sectionsOf(
  schema: ConfigSchema,
  fields: readonly SettingField[],
  kind: string,
  saved: Entry,
): readonly Section[] {
  const onCard = cardSettings(schema)
  const own = fields.filter(({ isCommon }) => !isCommon)
  const common = fields.filter(({ isCommon }) => isCommon)
  const isFirst = ({ isRequired, name }: SettingField): boolean => isRequired || Object.hasOwn(saved, name)
  return [
    { id: 'own', title: `Settings of kind ${kind}`, fields: own.filter(isFirst), isFolded: false },
    { id: 'more', title: 'More settings', fields: own.filter((field) => !isFirst(field)), isFolded: true },
    { id: 'card', title: 'Card', fields: common.filter(({ name }) => onCard.has(name)), isFolded: true },
    {
      id: 'behavior',
      title: 'Behavior, limits and access',
      fields: common.filter(({ name }) => !onCard.has(name)),
      isFolded: true,
    },
  ]
}

export function SettingsForm({ schema, saved, ...context }: SettingsFormProps) {
  const { entry, problems, format } = context
  const filter = useSignal('')
  const kind = typeof entry['kind'] === 'string' ? entry['kind'] : ''
  const fields = useMemo(() => settingFields(schema, kind, saved), [schema, kind, saved])
  const sections = useMemo(() => sectionsOf(schema, fields, kind, saved), [schema, fields, kind, saved])
  const wanted = filter.value.trim().toLowerCase()
  const found = fields.filter(({ name, about }) => `${name} ${about}`.toLowerCase().includes(wanted))
  const others = Object.keys(entry).filter((key) => key !== 'kind' && fields.every(({ name }) => name !== key))
  return (
    <div class="stack settings-form">
      <input
        type="search"
        aria-label="Filter settings"
        placeholder="Filter by name or description"
        value={filter.value}
        onInput={(event) => (filter.value = event.currentTarget.value)}
      />
      {wanted !== '' && <FieldGrid fields={found} context={context} />}
      {wanted !== '' && found.length === 0 && <p class="faint">No matching settings</p>}
      {wanted === '' &&
        sections
          .filter((section) => section.fields.length > 0)
          .map(({ id, title, fields: some, isFolded }) =>
            isFolded ? (
              <details key={id} class="entry-more" open={some.some(({ name }) => hasProblem(name, problems))}>
                <summary>
                  {title} <SetCount fields={some} entry={entry} />
                </summary>
                <FieldGrid fields={some} context={context} />
              </details>
            ) : (
              <section key={id} class="stack-small" aria-label={title}>
                <h3>{title}</h3>
                <FieldGrid fields={some} context={context} />
              </section>
            ),
          )}
      {others.length > 0 && (
        <section class="stack-small" aria-label="Keys without a form">
          <h3>Keys without a form</h3>
          <p class="hint">
            {others.map((key) => (
              <code key={key}>{key} </code>
            ))}
          </p>
          <div>
            <button type="button" onClick={context.openText}>
              Edit as {format}
            </button>
          </div>
        </section>
      )}
    </div>
  )
}

function hasProblem(name: string, problems: SettingsFormProps['problems']): boolean {
  return problems.some(({ path }) => path === name || path.startsWith(`${name}.`) || path.startsWith(`${name}[`))
}

function SetCount({ fields, entry }: { readonly fields: readonly SettingField[]; readonly entry: Entry }) {
  const count = fields.reduce((sum, { name }) => sum + (countSet(entry[name]) > 0 ? 1 : 0), 0)
  return count === 0 ? null : <span class="faint">{count} set</span>
}

interface FieldGridProps {
  readonly fields: readonly SettingField[]
  readonly context: SettingFormContext
}

function FieldGrid({ fields, context }: FieldGridProps) {
  return (
    <div class="entry-fields">
      {fields.map((field) => (
        <SettingFieldView key={field.path.join('.')} field={field} context={context} />
      ))}
    </div>
  )
}
