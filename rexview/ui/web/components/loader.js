// The script that Streamlit gets for each component: fetches its module and passes the component
// on.
//
// The clean-up is returned at once, so that it works even before the module has arrived. A failed
// request is repeated: while a server is replaced, or a network changes, it may be lost.
const PAUSES_MS = [1000, 4000];

async function fetched(address) {
  for (const pause of PAUSES_MS) {
    try {
      return await import(address);
    } catch {
      await new Promise((done) => setTimeout(done, pause));
    }
  }
  return import(address);
}

export default function (component) {
  let gone = false;
  let unmount = null;
  fetched(new URL("@MODULE@", document.baseURI).href).then(
    ({ mount }) => {
      if (!gone) unmount = mount({ ...component, data: component.data[0] });
    },
    (error) => {
      if (gone) return;
      const notice = document.createElement("p");
      notice.textContent = "@FAILED@";
      component.parentElement.append(notice);
      console.error(error);
    },
  );
  return () => {
    gone = true;
    unmount?.();
  };
}
