import type { ReactNode } from 'react'
import { Tabs as AriaTabs, Tab, TabList, TabPanel } from 'react-aria-components/Tabs'

export interface TabOf {
  id: string
  name: string
  content: ReactNode
}

/** Tabs. Keep the id of the open one in the URL. */
export const Tabs = (props: {
  label: string
  tabs: TabOf[]
  open: string
  onOpen: (id: string) => void
}) => (
  <AriaTabs
    className="tabs"
    selectedKey={props.open}
    onSelectionChange={(key) => props.onOpen(String(key))}
  >
    <TabList className="tab-list" aria-label={props.label}>
      {props.tabs.map(({ id, name }) => (
        <Tab key={id} id={id}>
          {name}
        </Tab>
      ))}
    </TabList>
    {props.tabs.map(({ id, content }) => (
      <TabPanel key={id} id={id} className="tab-panel">
        {content}
      </TabPanel>
    ))}
  </AriaTabs>
)
