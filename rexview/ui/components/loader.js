// What Streamlit gets of each component: fetches its module and hands the component over.
//
// The clean-up is returned at once, so that it works even when the module has not come yet.
export default function (component) {
  let gone = false;
  let unmount = null;
  import(new URL("@MODULE@", document.baseURI).href).then(
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
