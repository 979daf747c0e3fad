/** Search, whether what is shown is live, light or dark, and the way out. */
import { hub, liveness } from '../api/feed.ts'
import { session } from '../api/session-state.ts'
import { Icon } from '../parts/icon.tsx'
import { isMac } from './keys.ts'
import { leave } from './leave.ts'
import { openPalette } from './palette-state.ts'
import { chooseTheme, isDark } from './theme.ts'
import './header.css'

export function Header() {
  const known = session.value
  return (
    <header class="top">
      <button type="button" class="top-search" onClick={() => openPalette()}>
        <Icon name="search" />
        <span class="top-search-text">Search or go to …</span>
        <kbd>{isMac ? '⌘K' : 'Ctrl K'}</kbd>
      </button>
      <span class="grow" />
      <Liveness />
      <button
        type="button"
        class="plain icon"
        aria-label={isDark.value ? 'Light colours' : 'Dark colours'}
        title={isDark.value ? 'Light colours' : 'Dark colours'}
        onClick={() => chooseTheme(isDark.value ? 'light' : 'dark')}
      >
        <Icon name={isDark.value ? 'sun' : 'moon'} />
      </button>
      <button
        type="button"
        class="plain icon"
        aria-label="Sign out"
        title={typeof known === 'object' ? `Sign out ${known.subject}` : 'Sign out'}
        onClick={() => void leave()}
      >
        <Icon name="out" />
      </button>
    </header>
  )
}

const words = {
  connecting: ['waiting', '◌', 'connecting'],
  live: ['done', '●', 'live'],
  away: ['failed', '○', 'hub away'],
} as const

function Liveness() {
  const [tone, shape, word] = words[liveness.value]
  const title =
    liveness.value === 'live'
      ? `What you see is what the hub knows (version ${hub.value?.version})`
      : 'The hub does not answer. The page goes on by itself as soon as it does.'
  return (
    <span class={`live ${tone}`} title={title} role="status">
      <span aria-hidden="true">{shape}</span> {word}
    </span>
  )
}
