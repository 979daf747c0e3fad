/** Somebody else was faster: what they did, and what becomes of what one typed. */
import { call } from '../../../api/call.ts'
import { useResource } from '../../../api/resource.ts'
import { query, setQuery } from '../../../app/router.ts'
import { Confirm } from '../../../parts/confirm.tsx'
import { Icon } from '../../../parts/icon.tsx'
import { Ago } from '../../../parts/time.tsx'
import { Loading } from '../../../parts/trouble.tsx'
import { inverted } from './diff-rows.ts'
import { DiffView } from './diff-view.tsx'
import { base, discard, keepMine, theirs } from './draft.ts'
import type { ConfigText } from './draft.ts'

export function Conflict() {
  const found = theirs.value
  const versions = useResource(`versions ${found?.hash}`, (signal) => call('listConfigVersions', { signal }))
  const newest = versions.value.value?.versions.find(({ hash }) => hash === found?.hash)
  const isShown = query.value.get('theirs') !== null
  if (found === undefined) return null
  return (
    <section class="config-conflict panel" aria-label="Changed meanwhile">
      <div class="config-conflict-head" role="alert">
        <Icon name="warning" />
        <p class="grow">
          <strong>Somebody else changed the configuration</strong>
          {newest === undefined ? (
            ', perhaps in the file itself'
          ) : (
            <>
              : {newest.who}, <Ago at={newest.at} />
              {newest.note !== undefined && <>, “{newest.note}”</>}
            </>
          )}
          . What you typed is still here and was not applied.
        </p>
      </div>
      <div class="config-conflict-choice">
        <button type="button" aria-expanded={isShown} onClick={() => setQuery({ theirs: isShown ? undefined : '1' })}>
          {isShown ? 'Hide theirs' : 'Look at theirs'}
        </button>
        <button type="button" onClick={() => keep()}>
          Keep mine, over theirs
        </button>
        <Confirm label="Take theirs" question="Take theirs?" does={async () => take()}>
          What you typed is gone then.
        </Confirm>
      </div>
      {isShown && <Theirs found={found} />}
    </section>
  )
}

function keep(): void {
  keepMine()
  setQuery({ theirs: undefined })
}

function take(): void {
  discard()
  setQuery({ theirs: undefined })
}

/** From what one began with to what holds now: the hub compares the other way round. */
function Theirs({ found }: { readonly found: ConfigText }) {
  const before = base.value?.text ?? ''
  const compared = useResource(`theirs ${found.hash}`, async (signal) => {
    const { diff } = await call('diffConfig', { body: { text: before }, signal })
    return inverted(diff)
  })
  if (compared.value.value !== undefined) {
    return <DiffView diff={compared.value.value} label="What they changed" before="Before" after="Theirs" />
  }
  // A text from which a secret was taken away meanwhile cannot be compared; it can be read.
  if (compared.problem.value !== undefined) return <pre class="config-theirs mono">{found.text}</pre>
  return <Loading what="what they changed" />
}
