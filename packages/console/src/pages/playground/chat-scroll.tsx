/**
 * The scrolled part of a conversation. It stays at the end while the user is there; otherwise it shows that there is
 * more. Without `follows` it stays where it is.
 */
import { useSignal } from '@preact/signals'
import { useLayoutEffect, useRef } from 'preact/hooks'
import { Icon } from '../../components/icon.tsx'

interface ChatScrollProps {
  readonly follows?: boolean
  readonly children: preact.ComponentChildren
}

export function ChatScroll({ follows = true, children }: ChatScrollProps) {
  const isFollowing = useRef(follows)
  isFollowing.current = follows
  const frame = useRef<HTMLDivElement>(null)
  const inside = useRef<HTMLDivElement>(null)
  const isAtEnd = useSignal(true)
  const top = useRef(0)
  useLayoutEffect(() => {
    const [element, content] = [frame.current, inside.current]
    if (element === null || content === null) return
    const stay = (): void => {
      if (isFollowing.current && isAtEnd.peek()) element.scrollTop = element.scrollHeight
    }
    const watch = new ResizeObserver(stay)
    watch.observe(content)
    watch.observe(element)
    return () => watch.disconnect()
  }, [])
  /** New content does not unpin the view from the end; only scrolling up does. */
  function scrolled(): void {
    const element = frame.current
    if (element === null) return
    const { scrollTop, clientHeight, scrollHeight } = element
    if (scrollTop + clientHeight >= scrollHeight - 40) isAtEnd.value = true
    else if (scrollTop < top.current) isAtEnd.value = false
    top.current = scrollTop
  }
  return (
    <div class="chat-view">
      <div ref={frame} class="chat-scroll" onScroll={scrolled} tabIndex={0} role="region" aria-label="Conversation">
        <div ref={inside} class="stack-wider chat-inside">
          {children}
        </div>
      </div>
      {follows && !isAtEnd.value && (
        <button
          type="button"
          class="small chat-down"
          onClick={() => frame.current?.scrollTo({ top: frame.current.scrollHeight })}
        >
          <Icon name="down" size={14} /> Jump to latest
        </button>
      )}
    </div>
  )
}
