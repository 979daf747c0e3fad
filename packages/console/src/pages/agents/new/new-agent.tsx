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
import { fieldErrorsFrom, type FieldError } from '../../../components/form/field-errors.ts'
import { FieldErrorList, SelectField, TextField } from '../../../components/form/form-fields.tsx'
import { useSubmit } from '../../../components/form/use-submit.ts'
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
  if (kinds === undefined || found.problem.value !== undefined) return <LoadState of={found} what="the kinds" />
  const shown = kinds.find(({ kind }) => kind === query.value.get('form'))
  return (
    <>
      <div class="stack-small agent-part">
        <label class="label" for="kind">
          Kind
        </label>
        <div class="row">
          <SelectField
            id="kind"
            value={shown?.kind ?? ''}
            options={[
              ...(shown === undefined ? [['', 'Choose …'] as const] : []),
              ...kinds.map(({ kind }) => [kind, kind] as const),
            ]}
            onChange={(form) => setQuery({ form, shape: undefined })}
          />
          <a href="/agents/new">Detect the kind</a>
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
    <form class="agent-tab" noValidate onSubmit={onSubmit}>
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
        label="Name on this hub"
        value={name.value}
        mistakes={ofName}
        onValue={(value) => (name.value = value)}
      />
      <EntryFields fields={fields} values={values} mistakes={mistakes.value} />
      <FieldErrorList mistakes={others} />
      <div class="row">
        <button type="submit" class="primary" disabled={isBusy || agent === ''}>
          Add {agent}
        </button>
      </div>
    </form>
  )
}
