// What Streamlit gets: fetches the pad's modules and hands the component over.
//
// The clean-up is returned at once, so that it works even when the modules have not come yet.
export default function (component) {
  let gone = false;
  let unmount = null;
  import(new URL("rexview/pad/@VERSION@/pad.js", document.baseURI).href).then(
    (pad) => {
      if (!gone) unmount = pad.mount(component);
    },
    (error) => {
      if (gone) return;
      const notice = document.createElement("p");
      notice.textContent = "The score pad could not be loaded. Reload the page.";
      component.parentElement.append(notice);
      console.error(error);
    },
  );
  return () => {
    gone = true;
    unmount?.();
  };
}
