/** Another agent: found out by the hub, or made by hand from the form of its kind. */
import { useSignal } from '@preact/signals'
import { call } from '../../api/call.ts'
import { problemOf } from '../../api/problem.ts'
import { useResource } from '../../api/resource.ts'
import { tell } from '../../app/announce.ts'
import { useKeys } from '../../app/keys.ts'
import { go, query, setQuery } from '../../app/router.ts'
import { DetailHead } from '../../parts/sheet.tsx'
import { Loading, Trouble } from '../../parts/trouble.tsx'
import { AddAgent } from './add-agent.tsx'
import { agentPath } from './agent-path.ts'
import { effectText } from './effect-text.ts'
import { EntryFields } from './entry-fields.tsx'
import { commonNames, entryOf, fieldsOf } from './entry-form.ts'
import type { Kind } from './entry-form.ts'
import { mistakesIn } from './mistakes.ts'
import type { Mistake } from './mistakes.ts'
import { Mistakes } from './mistake-list.tsx'
import './agent-detail.css'

export function NewAgent() {
  const isByHand = query.value.get('form') !== null
  useKeys([{ key: 'Escape', does: 'Back to the list', run: () => go('/agents') }])
  return (
    <>
      <DetailHead title="Add an agent" backTo="/agents" />
      <div class="scroll">
        <div class="agent-tab">
          {isByHand ? (
            <ByHand />
          ) : (
            <>
              <AddAgent onAdded={(name) => go(agentPath(name))} />
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

function ByHand() {
  const found = useResource('kinds', (signal) => call('listKinds', { signal }))
  const kinds = found.value.value?.kinds as readonly Kind[] | undefined
  if (found.problem.value !== undefined) return <Trouble reason={found.problem.value} retry={() => found.reload()} />
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

function KindForm({ kind: { kind, schemas }, kinds }: { readonly kind: Kind; readonly kinds: readonly Kind[] }) {
  const schema = schemas[Number(query.value.get('shape') ?? 0)] ?? schemas[0] ?? {}
  const fields = fieldsOf(schema, commonNames(kinds))
  const name = useSignal('')
  const values = useSignal<Readonly<Record<string, string>>>({})
  const mistakes = useSignal<readonly Mistake[]>([])
  const isBusy = useSignal(false)

  async function add(event: Event): Promise<void> {
    event.preventDefault()
    const filled = entryOf(kind, fields, values.value)
    mistakes.value = 'mistakes' in filled ? filled.mistakes : []
    if ('mistakes' in filled) return
    isBusy.value = true
    try {
      const { effects } = await call('addAgent', { body: { name: name.value.trim(), entry: filled.entry } })
      tell(effectText(effects))
      go(agentPath(name.value.trim()))
    } catch (reason) {
      mistakes.value = mistakesIn(problemOf(reason), name.value.trim())
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
        <Mistakes id="name-mistakes" mistakes={ofName} />
      </div>
      <EntryFields fields={fields} values={values} mistakes={mistakes.value} />
      <Mistakes mistakes={others} />
      <div class="row">
        <button type="submit" class="primary" disabled={isBusy.value || name.value.trim() === ''}>
          Add {name.value.trim()}
        </button>
      </div>
    </form>
  )
}
