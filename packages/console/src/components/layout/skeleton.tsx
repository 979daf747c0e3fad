/**
 * A placeholder with the shape of what is loading: rows of a list, cards, or a block of text. It appears after a delay, by CSS, so
 * that fast loads do not flicker. Screen readers get the label instead of the shapes.
 */
import './skeleton.css'

export type SkeletonShape = 'rows' | 'cards' | 'text'

const defaultCounts: Readonly<Record<SkeletonShape, number>> = { rows: 8, cards: 6, text: 5 }

export function Skeleton({
  shape = 'rows',
  count = defaultCounts[shape],
  label,
}: {
  readonly shape?: SkeletonShape
  /** The number of rows, cards or lines. */
  readonly count?: number
  /** What is loading, for screen readers: “Loading tasks…”. */
  readonly label: string
}) {
  const bars = shape === 'text' ? 1 : shape === 'cards' ? 3 : 4
  return (
    <>
      {/* Outside of the busy element, whose changes screen readers do not announce. */}
      <p class="unseen" role="status">
        {label}
      </p>
      <div class={`skeleton skeleton-${shape}`} aria-busy="true">
        {Array.from({ length: count }, (_, index) => (
          <div key={index} class="skeleton-item" aria-hidden="true">
            {Array.from({ length: bars }, (__, bar) => (
              <span key={bar} class="skeleton-bar" />
            ))}
          </div>
        ))}
      </div>
    </>
  )
}
