/** Adds an agent: detected by the hub, or filled in by hand in the form of its kind. */
import { useSignal } from '@preact/signals'
import { callAdmin } from '../../../api/admin-client.ts'
import { toProblem } from '../../../api/problem.ts'
import { useResource } from '../../../api/resource.ts'
import { showToast } from '../../../app/announce.ts'
import { useShortcuts } from '../../../app/shortcuts.ts'
import { navigate, query, setQuery } from '../../../app/router.ts'
import { DetailHead } from '../../../components/layout/page-head.tsx'
import { Loading, ErrorNotice } from '../../../components/status/error-notice.tsx'
import { AddAgent } from '../../../agent/add-agent.tsx'
import { agentPath } from '../../../agent/agent-path.ts'
import { effectsText } from '../../../agent/effect-text.ts'
import { EntryFields } from './entry-fields.tsx'
import { commonSettingNames, buildEntry, entryFieldsFromSchema } from './entry-form.ts'
import type { AgentKind } from './entry-form.ts'
import { fieldErrorsFrom } from '../../../components/form/field-errors.ts'
import type { FieldError } from '../../../components/form/field-errors.ts'
import { FieldErrorList } from '../../../components/form/field-error-list.tsx'
import '../agent-detail-view.css'

export function NewAgent() {
  const isByHand = query.value.get('form') !== null
  useShortcuts([{ key: 'Escape', label: 'Back to the list', run: () => navigate('/agents') }])
  return (
    <>
      <DetailHead title="Add an agent" backTo="/agents" />
      <div class="scroll">
        <div class="agent-tab">
          {isByHand ? (
            <KindPicker />
          ) : (
            <>
              <AddAgent onAdded={(name) => navigate(agentPath(name))} />
              <p class="soft">
                Or <a href="/agents/new?form=">choose a kind by hand</a>.
              </p>
            </>
          )}
        </div>
      </div>
    </>
  )
}

function KindPicker() {
  const found = useResource('kinds', (signal) => callAdmin('listKinds', { signal }))
  const kinds = found.value.value?.kinds as readonly AgentKind[] | undefined
  if (found.problem.value !== undefined)
    return <ErrorNotice reason={found.problem.value} retry={() => found.reload()} />
  if (kinds === undefined) return <Loading what="the kinds" />
  const shown = kinds.find(({ kind }) => kind === query.value.get('form'))
  return (
    <>
      <div class="agent-part">
        <label class="label" for="kind">
          Kind
        </label>
        <div class="row">
          <select
            id="kind"
            value={shown?.kind ?? ''}
            onChange={(event) => setQuery({ form: event.currentTarget.value, shape: undefined })}
          >
            {shown === undefined && <option value="">Choose …</option>}
            {kinds.map(({ kind }) => (
              <option key={kind} value={kind}>
                {kind}
              </option>
            ))}
          </select>
          <a href="/agents/new">Let the hub find out</a>
        </div>
      </div>
      {shown !== undefined && <KindForm key={shown.kind} kind={shown} kinds={kinds} />}
    </>
  )
}

function KindForm({
  kind: { kind, schemas },
  kinds,
}: {
  readonly kind: AgentKind
  readonly kinds: readonly AgentKind[]
}) {
  const schema = schemas[Number(query.value.get('shape') ?? 0)] ?? schemas[0] ?? {}
  const fields = entryFieldsFromSchema(schema, commonSettingNames(kinds))
  const name = useSignal('')
  const values = useSignal<Readonly<Record<string, string>>>({})
  const mistakes = useSignal<readonly FieldError[]>([])
  const isBusy = useSignal(false)

  async function add(event: Event): Promise<void> {
    event.preventDefault()
    const filled = buildEntry(kind, fields, values.value)
    mistakes.value = 'mistakes' in filled ? filled.mistakes : []
    if ('mistakes' in filled) return
    isBusy.value = true
    try {
      const { effects } = await callAdmin('addAgent', { body: { name: name.value.trim(), entry: filled.entry } })
      showToast(effectsText(effects))
      navigate(agentPath(name.value.trim()))
    } catch (reason) {
      mistakes.value = fieldErrorsFrom(toProblem(reason), name.value.trim())
    }
    isBusy.value = false
  }

  const known = new Set(['name', ...fields.map((field) => field.name)])
  const [ofName, others] = [
    mistakes.value.filter(({ field }) => field === 'name'),
    mistakes.value.filter(({ field }) => !known.has(field.split(/[.[]/, 1)[0] ?? '')),
  ]
  return (
    <form class="agent-tab" noValidate onSubmit={(event) => void add(event)}>
      {schemas.length > 1 && (
        <div class="field">
          <label for="shape">Form</label>
          <select id="shape" onChange={(event) => setQuery({ shape: event.currentTarget.value })}>
            {schemas.map(({ required = [] }, index) => (
              <option key={index} value={String(index)}>
                {required.filter((one) => one !== 'kind').join(', ')}
              </option>
            ))}
          </select>
        </div>
      )}
      <div class="field">
        <label for="agent-name">Name on this hub</label>
        <input
          id="agent-name"
          type="text"
          autocomplete="off"
          spellcheck={false}
          value={name.value}
          aria-invalid={ofName.length > 0}
          aria-describedby="name-mistakes"
          onInput={(event) => (name.value = event.currentTarget.value)}
        />
        <FieldErrorList id="name-mistakes" mistakes={ofName} />
      </div>
      <EntryFields fields={fields} values={values} mistakes={mistakes.value} />
      <FieldErrorList mistakes={others} />
      <div class="row">
        <button type="submit" class="primary" disabled={isBusy.value || name.value.trim() === ''}>
          Add {name.value.trim()}
        </button>
      </div>
    </form>
  )
}
