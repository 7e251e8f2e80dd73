import { type ReactNode, useEffect, useRef } from 'react'
import { Tabs as AriaTabs, Tab, TabList, TabPanel } from 'react-aria-components/Tabs'

export interface TabOf {
  id: string
  name: string
  content: ReactNode
}

/** How much of the next tab stays visible, so that one sees that there are more. */
const PEEK_PX = 32

/** Scrolls the list, and only the list, until the open tab is in it. */
function reveal(list: HTMLElement): void {
  const tab = list.querySelector('[aria-selected="true"]')
  if (!tab) return
  const [outer, inner] = [list.getBoundingClientRect(), tab.getBoundingClientRect()]
  const [before, after] = [inner.left - PEEK_PX - outer.left, inner.right + PEEK_PX - outer.right]
  if (before < 0) list.scrollLeft += before
  else if (after > 0) list.scrollLeft += after
}

/** Says on which sides of the list there are more tabs, for its style. */
function markMore(list: HTMLElement): void {
  const { scrollLeft, clientWidth, scrollWidth } = list
  list.toggleAttribute('data-before', scrollLeft > 1)
  list.toggleAttribute('data-after', scrollLeft + clientWidth < scrollWidth - 1)
}

/** Tabs. Keep the id of the open one in the URL. */
export function Tabs(props: {
  label: string
  tabs: TabOf[]
  open: string
  onOpen: (id: string) => void
}) {
  const { label, tabs, open, onOpen } = props
  const list = useRef<HTMLDivElement>(null)
  // biome-ignore lint/correctness/useExhaustiveDependencies: another tab is open
  useEffect(() => {
    const element = list.current
    if (!element) return
    // Called at once, and whenever the list gets narrower or wider.
    const observer = new ResizeObserver(() => {
      reveal(element)
      markMore(element)
    })
    observer.observe(element)
    const onScroll = () => markMore(element)
    element.addEventListener('scroll', onScroll, { passive: true })
    return () => {
      observer.disconnect()
      element.removeEventListener('scroll', onScroll)
    }
  }, [open])
  return (
    <AriaTabs className="tabs" selectedKey={open} onSelectionChange={(key) => onOpen(String(key))}>
      <TabList ref={list} className="tab-list" aria-label={label}>
        {tabs.map(({ id, name }) => (
          <Tab key={id} id={id}>
            {name}
          </Tab>
        ))}
      </TabList>
      {tabs.map(({ id, content }) => (
        <TabPanel key={id} id={id} className="tab-panel">
          {content}
        </TabPanel>
      ))}
    </AriaTabs>
  )
}
