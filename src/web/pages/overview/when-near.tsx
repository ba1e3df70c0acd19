/** Renders what is below the fold once it is about to be seen, in the room that it will take. */
import { useIntersection } from '@mantine/hooks'
import { type ReactNode, useEffect, useState } from 'react'

interface WhenNearProps {
  /** The class that reserves its height. */
  className?: string | undefined
  children: ReactNode
}

/** Below the window. */
const NEAR = '200px'

export function WhenNear({ className, children }: WhenNearProps) {
  const { ref, entry } = useIntersection({ rootMargin: NEAR })
  const [isNear, setNear] = useState(false)
  useEffect(() => {
    if (entry?.isIntersecting) setNear(true)
  }, [entry?.isIntersecting])
  return (
    <div ref={ref} className={className}>
      {isNear && children}
    </div>
  )
}
