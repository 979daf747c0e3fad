/** Adds an agent: detected by the hub, or filled in by hand in the form of its kind. */
import { useSignal } from '@preact/signals'
import { callAdmin } from '../../../api/admin-client.ts'
import { useResource } from '../../../api/resource.ts'
import { showToast } from '../../../app/announce.ts'
import { useShortcuts } from '../../../app/shortcuts.ts'
import { navigate, query, setQuery } from '../../../app/router.ts'
import { DetailHead } from '../../../components/layout/page-head.tsx'
import { LoadState } from '../../../components/status/error-notice.tsx'
import { AddAgent } from '../../../agent/add-agent.tsx'
import { agentPath } from '../../../agent/agent-path.ts'
import { effectsText } from '../../../agent/effect-text.ts'
import { EntryFields } from './entry-fields.tsx'
import { commonSettingNames, buildEntry, entryFieldsFromSchema, type AgentKind } from './entry-form.ts'
import { KindCards, KindLabel } from './kind-cards.tsx'
import { fieldErrorsFrom, type FieldError } from '../../../components/form/field-errors.ts'
import { FieldErrorList, SelectField, TextField } from '../../../components/form/form-fields.tsx'
import { useSubmit } from '../../../components/form/use-submit.ts'
import '../agent-detail-view.css'

/** Detection first, and the kinds below it. `?form=openai` shows the form of a kind, `?form=` the kinds alone. */
export function NewAgent() {
  const form = query.value.get('form')
  const found = useResource('kinds', (signal) => callAdmin('listKinds', { signal }))
  const kinds = found.value.value?.kinds as readonly AgentKind[] | undefined
  const chosen = kinds?.find(({ kind }) => kind === form)
  useShortcuts([{ key: 'Escape', label: 'Back to the list', run: () => navigate('/agents') }])
  return (
    <>
      <DetailHead title="Add agent" backTo="/agents" />
      <div class="scroll">
        <div class="stack-wider agent-tab">
          {form === null && <AddAgent onAdded={(name) => navigate(agentPath(name))} />}
          <LoadState of={found} what="the kinds" />
          {kinds !== undefined && chosen === undefined && (
            <section class="stack-small agent-part">
              <h3>{form === null ? 'Or choose a kind' : 'Agent kinds'}</h3>
              <KindCards kinds={kinds} />
            </section>
          )}
          {kinds !== undefined && chosen !== undefined && <KindForm key={chosen.kind} kind={chosen} kinds={kinds} />}
        </div>
      </div>
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
  const agent = name.value.trim()
  const { isBusy, onSubmit } = useSubmit(
    async () => {
      const filled = buildEntry(kind, fields, values.value)
      mistakes.value = 'mistakes' in filled ? filled.mistakes : []
      if ('mistakes' in filled) return
      const { effects } = await callAdmin('addAgent', { body: { name: agent, entry: filled.entry } })
      showToast(effectsText(effects))
      navigate(agentPath(agent))
    },
    (problem) => (mistakes.value = fieldErrorsFrom(problem, agent)),
  )

  const known = new Set(['name', ...fields.map((field) => field.name)])
  const [ofName, others] = [
    mistakes.value.filter(({ field }) => field === 'name'),
    mistakes.value.filter(({ field }) => !known.has(field.split(/[.[]/, 1)[0] ?? '')),
  ]
  return (
    <form class="stack-wider agent-tab kind-form" noValidate onSubmit={onSubmit}>
      <div class="kind-chosen">
        <KindLabel kind={kind} />
        <a class="button small" href="/agents/new?form=">
          Change kind
        </a>
      </div>
      {schemas.length > 1 && (
        <div class="field">
          <label for="shape">Form</label>
          <SelectField
            id="shape"
            value={query.value.get('shape') ?? '0'}
            options={schemas.map(({ required = [] }, index) => [
              String(index),
              required.filter((one) => one !== 'kind').join(', '),
            ])}
            onChange={(shape) => setQuery({ shape })}
          />
        </div>
      )}
      <TextField
        id="agent-name"
        label="Agent name"
        value={name.value}
        mistakes={ofName}
        onValue={(value) => (name.value = value)}
      />
      <EntryFields fields={fields} values={values} mistakes={mistakes.value} />
      <FieldErrorList mistakes={others} />
      <div class="row">
        <button type="submit" class="primary" disabled={isBusy || agent === ''}>
          {`Add ${agent}`.trim()}
        </button>
      </div>
    </form>
  )
}
