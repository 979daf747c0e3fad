/** What would be different, and what that does, before it is done. */
import { useSignal } from '@preact/signals'
import { call } from '../../../api/call.ts'
import { isProblem, problemOf } from '../../../api/problem.ts'
import { useResource } from '../../../api/resource.ts'
import { tell } from '../../../app/announce.ts'
import { useKeys } from '../../../app/keys.ts'
import { go } from '../../../app/router.ts'
import { Empty, Loading, Trouble } from '../../../parts/trouble.tsx'
import { Conflict } from './conflict.tsx'
import type { ConfigResource } from './config-resource.ts'
import { DiffView } from './diff-view.tsx'
import { base, begin, isEdited, text, theirs } from './draft.ts'
import { effectsLine } from './effects.ts'
import { EffectsList } from './effects-list.tsx'
import { noteApplied } from './last-applied.tsx'

const back = '/settings/config'

export function ReviewView({ config }: { readonly config: ConfigResource }) {
  const compared = useResource(
    `diff ${base.value?.hash} ${theirs.value?.hash}`,
    (signal) => call('diffConfig', { body: { text: text.value }, signal }),
    ({ type }) => type === 'config',
  )
  const note = useSignal('')
  const isBusy = useSignal(false)
  const refused = useSignal<unknown>(undefined)
  useKeys([{ key: 'Escape', does: 'Back to the text', run: () => go(back) }])

  async function apply(): Promise<void> {
    isBusy.value = true
    refused.value = undefined
    try {
      const said = note.value.trim()
      const { hash } = base.value ?? {}
      const { effects } = await call('applyConfig', {
        body: {
          text: text.value,
          ...(said === '' ? {} : { note: said }),
          ...(hash === undefined ? {} : { base: hash }),
        },
      })
      begin(await call('getConfig'))
      noteApplied(effects)
      tell(`Applied. ${effectsLine(effects)}`)
      go(back)
    } catch (reason) {
      // Who was slower is shown what the other did.
      if (isProblem(reason, 'CONFLICT')) config.reload()
      else refused.value = problemOf(reason)
    }
    isBusy.value = false
  }

  if (!isEdited.value) {
    return (
      <Empty title="There is nothing to review">
        <a class="button" href={back}>
          Edit the configuration
        </a>
      </Empty>
    )
  }
  const found = compared.value.value
  return (
    <div class="scroll config-review">
      <div class="config-review-head">
        <h2>Review changes</h2>
        <a class="button" href={back}>
          Back to the text
        </a>
      </div>
      {theirs.value !== undefined && <Conflict />}
      {compared.problem.value !== undefined && <Trouble reason={compared.problem.value} retry={compared.reload} />}
      {refused.value !== undefined && <Trouble reason={refused.value} />}
      {found === undefined && compared.problem.value === undefined && <Loading what="the comparison" />}
      {found !== undefined && (
        <>
          <section aria-labelledby="config-effects">
            <h3 id="config-effects">What it does</h3>
            <EffectsList effects={found.effects} />
          </section>
          <DiffView diff={found.diff} label="Changes, line by line" before="Holds now" after="Yours" />
          <form
            class="config-apply"
            onSubmit={(event) => {
              event.preventDefault()
              void apply()
            }}
          >
            <div class="field grow">
              <label for="config-note">Note, for whoever looks at the versions later</label>
              <input
                id="config-note"
                type="text"
                maxLength={500}
                placeholder="Why"
                value={note.value}
                onInput={(event) => (note.value = event.currentTarget.value)}
              />
            </div>
            <button type="submit" class="primary" disabled={isBusy.value || theirs.value !== undefined}>
              Apply
            </button>
          </form>
        </>
      )}
    </div>
  )
}
